import { tell } from './time.js';

// Requests of the page. Their header distinguishes them from requests by other sites.
const pageHeader = { 'X-Fairlead-Page': '1' };

// RequestError is a response with an error code. Its causes are those of the Status: {field, message}.
export class RequestError extends Error {
  constructor(code, message, causes = []) {
    super(message);
    this.code = code;
    this.causes = causes;
  }
}

export async function request(path, options = {}) {
  const res = await fetch(path, { ...options, headers: { ...pageHeader, ...options.headers } });
  tell(Date.parse(res.headers.get('Date')));
  if (res.ok) return res;
  if (res.status === 401) dispatchEvent(new Event('session-over'));
  const text = await res.text();
  let message = text.trim();
  let causes;
  try {
    const status = JSON.parse(text);
    message = status.message || message;
    causes = status.details?.causes;
  } catch { /* plain text */ }
  throw new RequestError(res.status, message || res.statusText, causes);
}

export async function json(path, accept = 'application/json', signal = undefined) {
  return (await request(path, { headers: { Accept: accept }, signal })).json();
}

export const text = async (path) => (await request(path)).text();

// stream is a response's body.
export const stream = async (path, signal) => (await request(path, { signal })).body;

export const post = (path, body) => request(path, { method: 'POST', ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }) });

const hex = (bytes) => [...crypto.getRandomValues(new Uint8Array(bytes))].map((b) => b.toString(16).padStart(2, '0')).join('');

// write sends a change. It returns {object, trace, warnings}: trace is the ID by which the event that the change
// caused can be found.
export async function write(method, path, { query, body, type = 'application/json', signal } = {}) {
  const trace = hex(16);
  const q = new URLSearchParams({ ...(method !== 'DELETE' && { fieldManager: 'fairlead-page' }), ...query });
  const res = await request(`${path}?${q}`, {
    method, signal, body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { Accept: 'application/json', 'Content-Type': type, Traceparent: `00-${trace}-${hex(8)}-01` },
  });
  const warnings = [...(res.headers.get('Warning') || '').matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((w) => w[1].replace(/\\(.)/g, '$1'));
  return { object: await res.json(), trace, warnings };
}

const MERGE = 'application/merge-patch+json';

export const patch = (path, body, type = MERGE) => write('PATCH', path, { body, type });

// yieldToBrowser lets the browser render and handle input between two batches.
export const yieldToBrowser = () => globalThis.scheduler?.yield?.() ?? new Promise((done) => { setTimeout(done); });

const BATCH = 200; // lines
const MAX_BUSY = 8; // ms, of a frame's 16

// lines parses a response of JSON lines and calls each with batches of them as they arrive. It
// yields before it takes a whole frame's time.
export async function lines(path, each, signal, accept = 'application/json') {
  const res = await request(path, { headers: { Accept: accept }, signal });
  const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let begun = performance.now();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (rest + value).split('\n');
    rest = parts.pop();
    for (let i = 0; i < parts.length; i += BATCH) {
      const batch = parts.slice(i, i + BATCH).filter(Boolean).map((line) => JSON.parse(line));
      if (batch.length) each(batch);
      if (performance.now() - begun > MAX_BUSY) {
        await yieldToBrowser();
        begun = performance.now();
      }
    }
  }
  if (rest.trim()) each([JSON.parse(rest)]);
}

// all returns all lines.
export async function all(path, signal) {
  const out = [];
  await lines(path, (batch) => out.push(...batch), signal);
  return out;
}

export const lives = (parameters, signal) => all(`/debug/lives?${new URLSearchParams(parameters)}`, signal);

// resources maps "plural.group" to the server's resources; read once, and again on request.
let known;

export function resources(again = false) {
  if (!known || again) known = discover();
  return known;
}

async function discover() {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const found = new Map();
  for (const root of ['/api', '/apis']) {
    for (const group of (await json(root, accept)).items) {
      const name = group.metadata.name || '';
      for (const version of group.versions) {
        for (const r of version.resources || []) {
          const key = name ? `${r.resource}.${name}` : r.resource;
          if (found.has(key) || !(r.verbs || []).includes('list')) continue;
          found.set(key, {
            key, plural: r.resource, kind: r.responseKind.kind, namespaced: r.scope === 'Namespaced', group: name, version: version.version,
            verbs: r.verbs, short: r.shortNames || [], subresources: (r.subresources || []).map((s) => s.subresource),
            base: name ? `/apis/${name}/${version.version}` : `/api/${version.version}`,
          });
        }
      }
    }
  }
  return found;
}

// find finds a resource. It repeats discovery for a new one.
export async function find(key) {
  const r = (await resources()).get(key) || (await resources(true)).get(key);
  if (!r) throw new RequestError(404, `the server has no ${key}`);
  return r;
}

export function collection(r, namespace) {
  return r.namespaced && namespace ? `${r.base}/namespaces/${encodeURIComponent(namespace)}/${r.plural}` : `${r.base}/${r.plural}`;
}

export const objectPath = (r, namespace, name) => `${collection(r, namespace)}/${encodeURIComponent(name)}`;

// exactly is the query of a list at a revision; 0 is the present.
export const exactly = (revision) => (revision ? { resourceVersion: revision, resourceVersionMatch: 'Exact' } : {});

// state is one object at a revision, undefined if it did not exist.
export async function state(r, namespace, name, revision, signal) {
  const q = new URLSearchParams({ fieldSelector: `metadata.name=${name}`, ...exactly(revision) });
  const list = await json(`${collection(r, namespace)}?${q}`, 'application/json', signal);
  const found = (list.items || []).find((o) => (o.metadata.namespace || '') === (namespace || ''));
  return found && { apiVersion: list.apiVersion, kind: r.kind, ...found };
}
