// The objects that are related to one, with their states, and the Events about it.
import { h } from './dom.js';
import { toneOf } from './maplist.js';
import { several, words } from './mapfold.js';
import { followMap } from './mapread.js';
import { mapAddress, moment, objectAddress, plural } from './format.js';

const SHOWN = 12; // objects of a heading, before the rest
// Kinds of objects whose pods are at most two steps away: what these pods use is related to them, too.
const WORKLOADS = new Set(['deployments.apps', 'replicasets.apps', 'statefulsets.apps', 'daemonsets.apps', 'replicationcontrollers', 'jobs.batch', 'cronjobs.batch']);
const RANK = { missing: 0, ill: 0, busy: 1, well: 2 };
// The headings, in their order: verb, whether the related object is its subject, and the text.
const HEADINGS = [
  ['owns', true, 'Owner'], ['scales', true, 'Scaled by'], ['owns', false, 'Owns'], ['scales', false, 'Scales'], ['selects', true, 'Selected by'], ['selects', false, 'Selects'],
  ['routes to', true, 'Gets requests from'], ['routes to', false, 'Routes to'], ['runs on', false, 'Runs on'], ['runs on', true, 'Runs'], ['mounts', false, 'Mounts'], ['mounts', true, 'Mounted by'],
  ['reads', false, 'Reads'], ['reads', true, 'Read by'], ['runs as', false, 'Runs as'], ['runs as', true, 'Identity of'], ['binds', false, 'Binds'], ['binds', true, 'Bound by'],
  ['binds to', false, 'Binds to'], ['binds to', true, 'Bound to by'], ['of class', false, 'Class'], ['of class', true, 'Class of'], ['calls', false, 'Calls'], ['calls', true, 'Called by'],
];

export function relatedPart(about) {
  const el = h('section.related', { 'aria-label': 'Related objects' }, h('p.dim', 'reading…'));
  const source = followMap({ resource: about.resource, namespace: about.namespace, name: about.name, steps: WORKLOADS.has(about.resource) ? 3 : 1 }, {
    show: (map) => {
      const opened = new Set([...el.querySelectorAll('details[open]')].map((d) => d.dataset.of));
      el.replaceChildren(h('p', h('a', { href: mapAddress(about) }, 'as a map')), ...headings(map), events(map.events || []),
        map.forbidden ? h('p.dim', `Not shown, because you may not read them: ${map.forbidden.join(', ')}`) : '');
      for (const d of el.querySelectorAll('details')) d.open = opened.has(d.dataset.of);
    },
    failed: (err) => el.replaceChildren(h('p', { className: err.code === 404 ? 'dim' : 'bad' }, err.code === 404 ? 'It does not exist.' : err.message)),
  });
  return { el, destroy: () => source.destroy() };
}

// headings groups what is related to the object, or to what it owns.
function headings(map) {
  const own = ownedBy(map);
  const found = new Map(HEADINGS.map((one) => [one, new Set()]));
  for (const e of map.edges) {
    const heading = (passive) => found.get(HEADINGS.find(([verb, p]) => verb === e.verb && p === passive));
    if (own.has(e.from) && (!own.has(e.to) || e.verb === 'owns')) heading(false)?.add(e.to);
    if (own.has(e.to) && !own.has(e.from)) heading(true)?.add(e.from);
  }
  const all = [...found].filter(([, objects]) => objects.size).flatMap(([[, , text], objects]) => {
    const list = [...objects].map((i) => map.objects[i]);
    const pods = text === 'Owns' ? list.filter((o) => o.resource === 'pods') : [];
    const rest = list.filter((o) => !pods.includes(o));
    return [rest.length && section(text, rest), pods.length && section('Pods', pods)].filter(Boolean);
  });
  return all.length ? all : [h('p.dim', 'No object is related to it.')];
}

// ownedBy are the first object and all that it owns.
function ownedBy(map) {
  const own = new Set([0]);
  for (let size = 0; size < own.size;) {
    size = own.size;
    for (const e of map.edges) if (e.verb === 'owns' && own.has(e.from)) own.add(e.to);
  }
  return own;
}

function section(text, objects) {
  objects.sort((a, b) => (RANK[a.tone] ?? 3) - (RANK[b.tone] ?? 3) || a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));
  const items = (list) => h('ul', list.map((o) => h('li', h('a', { href: objectAddress(o), title: o.text || '' }, h('span.kind', `${o.kind} `), o.name), ' ', h('span', { className: toneOf(o) }, o.word || ''))));
  const rest = objects.slice(SHOWN);
  const more = rest.length > 0 && h('details', h('summary', `${rest.length.toLocaleString()} more`), items(rest));
  if (more) more.dataset.of = text;
  const kinds = [...new Set(objects.map((o) => o.kind))];
  return h('section', h('h3', text, objects.length > SHOWN && h('span.dim', ` ${kinds.length === 1 ? `${objects.length.toLocaleString()} ${several(kinds[0])}` : plural(objects.length, 'object')}: ${words(objects)}`)), items(objects.slice(0, SHOWN)), more);
}

const events = (notes) => h('section', h('h3', 'Events'), notes.length ? h('ol.saw', notes.toReversed().map((n) => h('li', moment(Date.parse(n.time)), h('span.dim', n.count > 1 ? `${n.count}×` : ''),
  h(n.type === 'Warning' ? 'b.bad' : 'b', n.reason), h('span', n.message, n.source && h('span.dim', ` · ${n.source}`))))) : h('p.dim', 'None are kept.'));
