// A map as text: the objects by kind, each with its relations.
import { h } from './dom.js';
import { label, nextOpen, title } from './mapdrawing.js';
import { several } from './mapfold.js';
import { objectAddress } from './format.js';

// toneOf is the class of a state.
export const toneOf = (o) => (o.tone ? `tone ${o.tone === 'missing' ? 'ill' : o.tone}` : 'dim');

// mapList returns {el, show(graph)}; unfold(id, n) is called to show n members of a group.
export function mapList(unfold) {
  const el = h('div.maplist');
  let before = '';

  function show(graph) {
    const text = JSON.stringify(graph);
    if (text === before) return;
    before = text;
    const focused = el.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const names = new Map(graph.nodes.map((n) => [n.id, n]));
    const relations = new Map(graph.nodes.map((n) => [n.id, []]));
    for (const e of graph.edges) {
      relations.get(e.from).push([e.verb, names.get(e.to)]);
      relations.get(e.to).push([passive(e.verb), names.get(e.from)]);
    }
    const kinds = new Map();
    for (const n of graph.nodes) {
      const kind = n.members ? n.kind : n.object.kind;
      if (!kinds.has(kind)) kinds.set(kind, []);
      kinds.get(kind).push(n);
    }
    el.replaceChildren(...[...kinds].map(([kind, nodes]) => h('section', h('h2', several(kind)), h('ul', nodes.map((n) => item(n, relations.get(n.id)))))));
    if (focused !== undefined) [...el.querySelectorAll('[data-key]')].find((one) => one.dataset.key === focused)?.focus();
  }

  function item(n, related) {
    return h('li', named(n, n.id), related.length > 0 && h('ul', byVerb(related).map(([verb, others]) => h('li', h('span.verb', `${verb} `), others.map((other, i) => [i ? ', ' : '', named(other, `${n.id}\n${verb}\n${other.id}`, true)])))));
  }

  function named(n, key, brief) {
    if (n.members && brief) return label(n);
    if (n.members) {
      const b = h('button.fold', { onclick: () => unfold(n.id, nextOpen(n)), 'aria-expanded': String(n.rest.length < n.members.length) }, title(n));
      b.dataset.key = key;
      return [b, n.words && h('span.dim', ` ${n.words}`)];
    }
    const a = h('a', { href: objectAddress(n.object), title: n.object.text || '' }, brief && h('span.kind', `${n.object.kind} `), n.object.name);
    a.dataset.key = key;
    return [a, !brief && n.object.word && [' ', h('span', { className: toneOf(n.object) }, n.object.word)]];
  }

  return { el, show };
}

function byVerb(related) {
  const verbs = new Map();
  for (const [verb, n] of related) {
    if (!verbs.has(verb)) verbs.set(verb, []);
    verbs.get(verb).push(n);
  }
  return [...verbs];
}

const PASSIVE = {
  owns: 'owned by', selects: 'selected by', mounts: 'mounted by', reads: 'read by', 'runs on': 'runs', 'runs as': 'identity of', 'routes to': 'gets requests from',
  scales: 'scaled by', binds: 'bound by', 'binds to': 'bound to by', 'of class': 'class of', calls: 'called by',
};

// passive is a relation from its other end.
export const passive = (verb) => PASSIVE[verb] || `${verb}, passively`;
