// The differences between two states of an object, by path, and their managers.

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);

// Elements of lists are identified by the usual keys of Kubernetes' lists.
const KEYS = ['name', 'type', 'uid', 'containerPort', 'ip', 'mountPath', 'topologyKey', 'key'];

// keyOf is the field that identifies the elements of a list, undefined if there is none.
export function keyOf(list) {
  if (!list.length || !list.every(isObject)) return undefined;
  return KEYS.find((k) => list.every((v) => typeof v[k] === 'string' || typeof v[k] === 'number')
    && new Set(list.map((v) => v[k])).size === list.length);
}

// changes lists {path: [step], from, to}; a step is a field's name or {k, v} of a list's element.
export function changes(from, to, path = [], out = []) {
  if (isObject(from) && isObject(to)) {
    for (const key of [...new Set([...Object.keys(from), ...Object.keys(to)])]) {
      if (path.length === 1 && path[0] === 'metadata' && (key === 'managedFields' || key === 'resourceVersion')) continue;
      changes(from[key], to[key], [...path, key], out);
    }
    return out;
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    const k = keyOf([...from]) === keyOf([...to]) || !from.length || !to.length ? keyOf(from.length ? from : to) : undefined;
    if (k) {
      const old = new Map(from.map((v) => [v[k], v]));
      const now = new Map(to.map((v) => [v[k], v]));
      for (const v of [...new Set([...old.keys(), ...now.keys()])]) changes(old.get(v), now.get(v), [...path, { k, v }], out);
      return out;
    }
    if (JSON.stringify(from) !== JSON.stringify(to)) out.push({ path, from, to });
    return out;
  }
  // What was added or removed is listed by its leaves.
  if (filled(from) && to === undefined) return leaves(from, path, out, (v) => ({ from: v }));
  if (filled(to) && from === undefined) return leaves(to, path, out, (v) => ({ to: v }));
  if (from !== to) out.push({ path, from, to });
  return out;
}

const filled = (v) => (isObject(v) && Object.keys(v).length > 0) || (Array.isArray(v) && v.length > 0);

function leaves(value, path, out, side) {
  if (isObject(value) && Object.keys(value).length) {
    for (const [key, v] of Object.entries(value)) {
      if (path.length === 1 && path[0] === 'metadata' && (key === 'managedFields' || key === 'resourceVersion')) continue;
      leaves(v, [...path, key], out, side);
    }
  } else if (Array.isArray(value) && keyOf(value)) {
    const k = keyOf(value);
    for (const v of value) leaves(v, [...path, { k, v: v[k] }], out, side);
  } else out.push({ path, ...side(value) });
  return out;
}

export function pathText(path) {
  return path.map((step, i) => {
    if (typeof step === 'object') return `[${step.v}]`;
    if (/[./]/.test(step)) return `[${step}]`;
    return i ? `.${step}` : step;
  }).join('');
}

// owners returns the managers of a path: those that own it or, if there is none, the nearest field around it as a whole.
export function owners(object, path) {
  let found = [];
  let deepest = 0;
  for (const m of object?.metadata?.managedFields || []) {
    const depth = owned(m.fieldsV1, path);
    if (!depth || depth < deepest) continue;
    if (depth > deepest) found = [];
    deepest = depth;
    found.push({ manager: m.manager, operation: m.operation, subresource: m.subresource || '', time: m.time });
  }
  return found;
}

// owned is how many steps of the path a set of fields has, 0 if it only has fields beside it.
function owned(set, path) {
  let at = set || {};
  for (const [depth, step] of path.entries()) {
    const below = descend(at, step);
    if (!below) return Object.keys(at).length ? 0 : depth;
    at = below;
  }
  return path.length;
}

function descend(set, step) {
  if (typeof step === 'string') return set[`f:${step}`];
  for (const [key, below] of Object.entries(set)) {
    if (!key.startsWith('k:')) continue;
    try {
      if (JSON.parse(key.slice(2))[step.k] === step.v) return below;
    } catch { /* not a key of this shape */ }
  }
  return undefined;
}

// short formats a value in one line.
export function short(value, max = 120) {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

// yaml formats an object as YAML.
export function yaml(value, indent = '') {
  if (Array.isArray(value)) {
    if (!value.length) return ' []\n';
    return `\n${value.map((v) => `${indent}-${yaml(v, `${indent}  `).replace(/^\n\s*/, ' ')}`).join('')}`;
  }
  if (isObject(value)) {
    const keys = Object.keys(value);
    if (!keys.length) return ' {}\n';
    return `\n${keys.map((k) => `${indent}${scalar(k)}:${yaml(value[k], Array.isArray(value[k]) ? indent : `${indent}  `)}`).join('')}`;
  }
  if (typeof value === 'string' && value.includes('\n')) {
    return ` |${value.endsWith('\n') ? '' : '-'}\n${value.replace(/\n$/, '').split('\n').map((l) => `${indent}${l}\n`).join('')}`;
  }
  return ` ${typeof value === 'string' ? scalar(value) : JSON.stringify(value)}\n`;
}

export function scalar(text) {
  return /^[A-Za-z_/][\w./:@+=-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) && !text.endsWith(':') ? text : JSON.stringify(text);
}
