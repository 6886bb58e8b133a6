// An object as YAML, each line with the last change of its field.
import { h } from './dom.js';
import { changes, keyOf, owners, pathText, scalar, yaml } from './diff.js';
import { age, exact, shortUser } from './format.js';
import { clusterTime } from './time.js';

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const filled = (v) => (Array.isArray(v) ? v.length > 0 : isObject(v) && Object.keys(v).length > 0);

// yamlLines is an object's YAML as {text, path}; path is undefined for a line without a value.
export function yamlLines(o) {
  const out = [];
  const meta = { ...o.metadata };
  delete meta.managedFields;
  delete meta.resourceVersion;
  fields(out, { ...o, metadata: meta }, [], '', '', false);
  return out;
}

// fields adds the lines of an object; head begins the first of them. whole: the path is that of a list, which is one field.
function fields(out, o, path, indent, head, whole) {
  Object.entries(o).forEach(([k, v], i) => {
    const at = whole ? path : [...path, k];
    const label = `${i ? indent : head}${scalar(k)}:`;
    if (!filled(v)) add(out, label + yaml(v, `${indent}  `), at);
    else {
      out.push({ text: label, path: whole ? path : undefined });
      if (Array.isArray(v)) elements(out, v, at, indent, whole);
      else fields(out, v, at, `${indent}  `, `${indent}  `, whole);
    }
  });
}

function elements(out, list, path, indent, within) {
  const key = within ? undefined : keyOf(list);
  for (const v of list) {
    if (filled(v) && isObject(v)) fields(out, v, key ? [...path, { k: key, v: v[key] }] : path, `${indent}  `, `${indent}- `, !key);
    else add(out, `${indent}-${yaml(v, `${indent}  `)}`, path);
  }
}

function add(out, text, path) {
  for (const line of text.replace(/\n$/, '').split('\n')) out.push({ text: line, path });
}

// origins finds the last change of each field: it returns a function of a path to {state} or {owner}.
export async function origins(past, object) {
  const found = new Map();
  const waiting = new Set(changes({}, object).map((c) => pathText(c.path)));
  let newer = null;
  const settle = (state, at) => {
    for (const name of waiting) {
      if (!at || name === at || (name.startsWith(at) && '.['.includes(name[at.length]))) {
        found.set(name, { state });
        waiting.delete(name);
      }
    }
  };
  await past.each((state, o) => {
    if (newer && (!o || state.uid !== newer.state.uid)) settle(newer.state, '');
    else if (newer) for (const c of changes(o, newer.object)) settle(newer.state, pathText(c.path));
    newer = { state, object: o };
    if (state.type === 'ADDED') settle(state, '');
    return waiting.size > 0;
  });
  return (path) => found.get(pathText(path)) || { owner: owners(object, path).sort((a, b) => (a.time < b.time ? 1 : -1))[0] };
}

// blameView shows the newest state.
export function blameView(past) {
  const el = h('div.blame', h('p.dim', 'reading…'));
  const [newest] = past.list;
  (async () => {
    const o = newest && await past.load(newest.revision);
    if (!o) {
      el.replaceChildren(h('p.dim', 'The object has been deleted.'));
      return;
    }
    const of = await origins(past, o);
    el.replaceChildren(h('div.yaml', { tabIndex: 0, role: 'region', 'aria-label': 'YAML with the last change of each field' },
      yamlLines(o).map((line) => h('div.line', ...margin(line.path && of(line.path)), h('code', line.text)))));
  })().catch((err) => { if (err.name !== 'AbortError') el.replaceChildren(h('p.bad', err.message)); });
  return el;
}

function margin(origin) {
  const { state, owner } = origin || {};
  if (state) {
    return [h('a.rev', { href: `#/events/${state.revision}` }, state.revision), h('span.age', { title: Number.isFinite(state.at) ? exact(state.at) : '' }, Number.isFinite(state.at) ? age(clusterTime() - state.at) : ''),
      h('span.who', { title: `${state.user || ''} ${(state.managers || []).join(', ')}`.trim() }, state.user ? shortUser(state.user) : (state.managers || []).join(', '))];
  }
  return [h('span.rev', origin && '–'), h('span.age', { title: owner?.time ? exact(Date.parse(owner.time)) : '' }, owner?.time ? age(clusterTime() - Date.parse(owner.time)) : ''),
    h('span.who', { title: owner ? 'its field manager; the change is older than the kept history' : '' }, owner?.manager || '')];
}
