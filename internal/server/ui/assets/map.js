// What owns, selects, mounts and routes to what: the objects of a namespace, or those around one object, as a drawing and as a
// list.
import { h } from './dom.js';
import { json } from './api.js';
import { address } from './address.js';
import { Drawing, drawingTools, label, nextOpen } from './mapdrawing.js';
import { foldMap, idOf } from './mapfold.js';
import { mapList, toneOf } from './maplist.js';
import { followMap } from './mapread.js';
import { kind, mapAddress, object, objectAddress, plural } from './format.js';

const STEPS = 2;
const MOST_STEPS = 6;
const keys = ['namespace', 'resource', 'name', 'steps', 'show', 'defaults'];
const narrow = matchMedia('(max-width: 820px)');

const nothing = { nodes: [], edges: [] };

let namespaceBefore = 'default'; // of the last map

export function mapView() {
  let args = {};
  let reading = ''; // the query whose map is shown
  let source = null;
  let map = null;
  let open = new Map(); // group -> how many of its members are shown
  const names = h('datalist', { id: 'mapnamespaces' });
  const namespace = h('input', { 'aria-label': 'Namespace', placeholder: 'namespace', autocomplete: 'off', spellcheck: false, onchange: () => { if (namespace.value.trim()) go({ namespace: namespace.value.trim() }); } });
  namespace.setAttribute('list', names.id);
  const around = h('span.around');
  const steps = h('select', { 'aria-label': 'Steps', onchange: () => go({ ...args, steps: steps.value }) }, Array.from({ length: MOST_STEPS }, (_, i) => h('option', { value: String(i + 1) }, plural(i + 1, 'step'))));
  const defaults = h('input', { type: 'checkbox', onchange: () => go({ ...args, defaults: defaults.checked ? '1' : '' }) });
  const modes = h('span.modes', { role: 'group', 'aria-label': 'Form' }, [['drawing', 'Drawing'], ['list', 'List']].map(([show, text]) => h('button', { 'data-show': show, onclick: () => go({ ...args, show }) }, text)));
  const count = h('span.count.dim', { role: 'status' });
  const told = h('p.told.dim');
  const picked = h('div.pickedobject', { role: 'status' });
  const drawing = new Drawing({ open: openNode, pick });
  const tools = drawingTools(drawing);
  const list = mapList(unfold);
  const stage = h('div.stage', drawing.el, picked);
  const el = h('div.map', h('div.bar', namespace, names, around, steps, h('label.check', { title: 'The ServiceAccount default and the ConfigMap kube-root-ca.crt, which each namespace has' }, defaults, 'defaults'), modes, tools, count), told, stage, list.el);

  function go(next) {
    const to = mapAddress(Object.fromEntries(keys.map((k) => [k, next[k] || ''])));
    if (to !== location.hash) location.hash = to;
  }

  // draw shows the map as it is folded now.
  function draw() {
    if (!map) return;
    const graph = foldMap(map, { open, center: Boolean(args.name), defaults: Boolean(args.defaults) });
    const asList = showsList();
    stage.hidden = asList || !graph.nodes.length;
    tools.hidden = asList;
    list.el.hidden = !asList || !graph.nodes.length;
    for (const b of modes.children) b.setAttribute('aria-pressed', String((b.dataset.show === 'list') === asList));
    count.className = 'count dim';
    count.textContent = `${plural(graph.nodes.reduce((n, one) => n + (one.rest?.length ?? 1), 0), 'object')}, ${plural(graph.edges.reduce((n, e) => n + e.count, 0), 'relation')}`;
    told.textContent = [!graph.nodes.length && 'Nothing is here.', map.forbidden && `Not shown, because you may not read them: ${map.forbidden.join(', ')}`].filter(Boolean).join(' ');
    told.hidden = !told.textContent;
    if (asList) list.show(graph); else drawing.show(graph, args.name ? idOf(map.objects[0]) : undefined);
  }

  const showsList = () => (args.show ? args.show === 'list' : narrow.matches);

  function unfold(id, n) {
    open.set(id, n);
    draw();
  }

  function openNode(n, id) {
    if (n.members) unfold(id, nextOpen(n));
    else location.hash = objectAddress(n.object);
  }

  function pick(n) {
    picked.hidden = !n;
    if (!n) return picked.replaceChildren();
    if (n.members) {
      const shown = n.members.length - n.rest.length;
      return picked.replaceChildren(h('b', label(n)), n.rest.length > 0 && h('button', { onclick: () => unfold(n.id, nextOpen(n)) }, 'Unfold'), shown > 0 && h('button', { onclick: () => unfold(n.id, 0) }, 'Fold'));
    }
    const o = n.object;
    const here = args.name === o.name && args.resource === o.resource;
    return picked.replaceChildren(...[h('span', h('span.dim', `${o.kind} `), h('b', object(o))), o.word && h('span', { className: toneOf(o), title: o.text }, o.text || o.word), h('a', { href: objectAddress(o) }, 'open'),
      !here && h('a', { href: mapAddress({ namespace: o.namespace, resource: o.resource, name: o.name }) }, 'map around it')].filter(Boolean));
  }

  function read() {
    const query = { namespace: args.namespace, resource: args.resource, name: args.name, steps: args.name ? args.steps : '' };
    const key = JSON.stringify(query);
    if (key === reading) return draw();
    source?.destroy();
    reading = key;
    map = null;
    open = new Map();
    drawing.fitted = true;
    drawing.show(nothing);
    list.show(nothing);
    count.textContent = 'reading…';
    told.hidden = true;
    stage.hidden = list.el.hidden = true;
    source = followMap(query, {
      show: (fresh) => {
        map = fresh;
        draw();
      },
      failed: (err) => {
        count.className = 'count bad';
        count.textContent = err.code === 404 ? 'It does not exist.' : err.message;
      },
    });
    return undefined;
  }

  json('/api/v1/namespaces?limit=500', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io').then((l) => {
    names.replaceChildren(...l.items.map((o) => h('option', { value: o.metadata.name })));
  }, () => { /* the user may not list namespaces, but may name one */ });
  narrow.addEventListener('change', draw);

  return {
    el,
    title: () => args.name || args.namespace,
    update() {
      const { query } = address();
      args = Object.fromEntries(keys.map((k) => [k, query.get(k) || '']));
      if (!args.resource || !args.name) args.resource = args.name = '';
      if (!args.name && !args.namespace) args.namespace = namespaceBefore;
      args.steps ||= String(STEPS);
      namespaceBefore = args.namespace || namespaceBefore;
      if (namespace !== document.activeElement) namespace.value = args.namespace;
      around.replaceChildren(...(args.name ? ['around ', h('b', `${kind(args.resource)} ${args.name}`), h('a', { href: mapAddress({ namespace: namespaceBefore }), title: 'The whole namespace', 'aria-label': 'The whole namespace' }, ' ×')] : []));
      steps.hidden = !args.name;
      steps.value = args.steps;
      defaults.checked = Boolean(args.defaults);
      read();
    },
    keydown(e) {
      if (stage.hidden || e.target.closest('.bar, .pickedobject')) return false;
      return drawing.keydown(e);
    },
    destroy() {
      narrow.removeEventListener('change', draw);
      source?.destroy();
      drawing.destroy();
    },
  };
}
