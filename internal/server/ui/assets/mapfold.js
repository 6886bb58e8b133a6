// Folds the equal objects of a map: those of one kind with the same owner, or without one and with the same relations.
import { object } from './format.js';

const LEAST = 4; // members of a group
export const MORE = 40; // members that are shown at a time

const RANK = { missing: 0, ill: 0, busy: 1, well: 2, '': 3 };
const rank = (o) => RANK[o.tone || ''];
// Relations in which otherwise equal objects differ.
const OWN = new Set(['runs on', 'binds']);

export const idOf = (o) => `${o.resource} ${object(o)}`;

// isDefault reports whether every namespace has the object.
const isDefault = (o) => (o.resource === 'serviceaccounts' && o.name === 'default') || (o.resource === 'configmaps' && o.name === 'kube-root-ca.crt');

// foldMap returns {nodes, edges} for a map of the server. A node is {id, object}, or {id, kind, members, rest, words, tone} for
// equal objects, of which rest are not shown on their own. An edge is {from, to, verb, count} with the ids of nodes. open is how
// many members of a group are shown; center says that the first object stands alone; defaults shows what every namespace has.
export function foldMap(map, { open = new Map(), center = false, defaults = false } = {}) {
  const { objects } = map;
  const hidden = objects.map((o, i) => !defaults && isDefault(o) && !(center && i === 0));
  const edges = map.edges.filter((e) => !hidden[e.from] && !hidden[e.to]);
  const near = objects.map(() => []); // [verb, other, whether the other is the subject]
  const owners = objects.map(() => []);
  for (const e of edges) {
    near[e.from].push([e.verb, e.to, false]);
    near[e.to].push([e.verb, e.from, true]);
    if (e.verb === 'owns') owners[e.to].push(e.from);
  }
  const group = objects.map((o, i) => `o${i}`); // of each object; its own at first
  const members = new Map();
  const together = (list, key) => {
    const by = new Map();
    for (const i of list) {
      const k = key(i);
      if (by.has(k)) by.get(k).push(i); else by.set(k, [i]);
    }
    for (const [k, all] of by) {
      if (all.length < LEAST) continue;
      const id = `g${k}`;
      members.set(id, all);
      for (const i of all) group[i] = id;
    }
  };
  const single = objects.map((o, i) => i).filter((i) => !hidden[i] && !(center && i === 0));
  const about = (o) => `${o.resource} ${o.namespace || ''}`;
  const name = (i) => (members.has(group[i]) ? group[i] : idOf(objects[i])); // the same for the next state of the map
  for (const list of byDepth(single, owners)) {
    together(list, (i) => `${about(objects[i])}|${owners[i].map(name).sort()}|${near[i].some(([verb, , passive]) => verb === 'owns' && !passive)}`);
  }
  for (let n = 0; n < 3; n++) { // groups of their neighbours come first
    together(single.filter((i) => !owners[i].length && !members.has(group[i])),
      (i) => `${about(objects[i])}|${[...new Set(near[i].filter(([verb, , passive]) => passive || !OWN.has(verb)).map(([verb, other, passive]) => `${verb}${passive}${name(other)}`))].sort()}`);
  }
  return drawn(objects, edges, hidden, group, members, open, owners);
}

// byDepth are lists of the objects with an owner: first those whose owners have none.
function byDepth(list, owners) {
  const depth = (i, n = 0) => (owners[i].length && n < 20 ? 1 + depth(owners[i][0], n + 1) : 0);
  const levels = [];
  for (const i of list) if (owners[i].length) (levels[depth(i)] ??= []).push(i);
  return levels.filter(Boolean);
}

function drawn(objects, edges, hidden, group, members, open, owners) {
  const nodes = [];
  const id = objects.map(idOf); // of the node that shows each object
  const seen = new Set();
  objects.forEach((o, i) => {
    if (hidden[i]) return;
    if (!members.has(group[i])) {
      nodes.push({ id: id[i], object: o });
      return;
    }
    if (seen.has(group[i])) return;
    seen.add(group[i]);
    const all = members.get(group[i]).toSorted((a, b) => rank(objects[a]) - rank(objects[b]) || objects[a].name.localeCompare(objects[b].name));
    const shown = Math.min(all.length, open.get(group[i]) || 0);
    for (const m of all.slice(0, shown)) nodes.push({ id: id[m], object: objects[m] });
    for (const m of all.slice(shown)) id[m] = group[i];
    const rest = all.slice(shown).map((m) => objects[m]);
    nodes.push({ id: group[i], kind: o.kind, members: all.map((m) => objects[m]), rest, words: words(rest), tone: rest.length ? worst(rest) : '' });
  });
  const found = new Map();
  for (const e of edges) {
    const edge = { from: id[e.from], to: id[e.to], verb: e.verb, count: 1 };
    const key = `${edge.from}\n${edge.to}\n${edge.verb}`;
    if (found.has(key)) found.get(key).count++; else if (edge.from !== edge.to) found.set(key, edge);
  }
  for (const [to, all] of members) { // which stays where its members are when they are shown
    for (const i of owners[all[0]]) if (!found.has(`${id[i]}\n${to}\nowns`)) found.set(`${id[i]}\n${to}\nowns`, { from: id[i], to, verb: 'owns', count: 0 });
  }
  return { nodes, edges: [...found.values()] };
}

const worst = (all) => all.reduce((tone, o) => (rank(o) < RANK[tone] ? (o.tone === 'missing' ? 'ill' : o.tone) : tone), '');

// words counts the states of objects: "198 Running, 2 Pending".
export function words(all) {
  const counts = new Map();
  for (const o of all) if (o.word) counts.set(o.word, (counts.get(o.word) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word, n]) => `${n.toLocaleString()} ${word}`).join(', ');
}

// several is the name of a kind in the plural.
export const several = (kind) => (/(s|x|ch)$/.test(kind) ? `${kind}es` : /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : `${kind}s`);
