// The differences between two states of an object, by path, and their managers.

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);

// Elements of lists are identified by the usual keys of Kubernetes' lists.
const KEYS = ['name', 'type', 'uid', 'containerPort', 'ip', 'mountPath', 'topologyKey', 'key'];

function keyOf(list) {
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
  // An object that was added or removed is listed by its leaves.
  if (isObject(from) && to === undefined && Object.keys(from).length) return leaves(from, path, out, (v) => ({ from: v }));
  if (isObject(to) && from === undefined && Object.keys(to).length) return leaves(to, path, out, (v) => ({ to: v }));
  if (from !== to) out.push({ path, from, to });
  return out;
}

function leaves(value, path, out, side) {
  if (isObject(value) && Object.keys(value).length) {
    for (const [key, v] of Object.entries(value)) {
      if (path.length === 1 && path[0] === 'metadata' && (key === 'managedFields' || key === 'resourceVersion')) continue;
      leaves(v, [...path, key], out, side);
    }
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

// owners returns the managers of a path: those that own it, or the nearest field above or below.
export function owners(object, path) {
  const found = [];
  for (const m of object?.metadata?.managedFields || []) {
    let at = m.fieldsV1;
    let depth = 0;
    for (const step of path) {
      const next = at && descend(at, step);
      if (!next) break;
      at = next;
      depth++;
    }
    if (depth === path.length || (depth > 0 && at && Object.keys(at).length === 0)) {
      found.push({ manager: m.manager, operation: m.operation, subresource: m.subresource || '' });
    }
  }
  return found;
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

function scalar(text) {
  return /^[A-Za-z_/][\w./:@+=-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) && !text.endsWith(':') ? text : JSON.stringify(text);
}
