// Requests of the page. The header is what tells them from what any other site might send.
const own = { 'X-Fairlead-Page': '1' };

// Refused is an answer that is none.
export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

async function request(path, options = {}) {
  const res = await fetch(path, { ...options, headers: { ...own, ...options.headers } });
  if (res.ok) return res;
  if (res.status === 401) dispatchEvent(new Event('session-over'));
  const text = await res.text();
  let message = text.trim();
  try { message = JSON.parse(text).message || message; } catch { /* plain text */ }
  throw new Refused(res.status, message || res.statusText);
}

export async function json(path, accept = 'application/json', signal = undefined) {
  return (await request(path, { headers: { Accept: accept }, signal })).json();
}

export const text = async (path) => (await request(path)).text();

export const post = (path) => request(path, { method: 'POST' });

// breathe lets the browser do what else it has to, between two batches.
const breathe = () => globalThis.scheduler?.yield?.() ?? new Promise((done) => { setTimeout(done); });

const BATCH = 200; // lines
const LONG = 8; // ms, of a frame's 16

// lines hands each line of JSON of an answer to each, in batches as they come in, and never
// takes the whole of a frame.
export async function lines(path, each, signal) {
  const res = await request(path, { signal });
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
      if (performance.now() - begun > LONG) {
        await breathe();
        begun = performance.now();
      }
    }
  }
  if (rest.trim()) each([JSON.parse(rest)]);
}

// all is lines, gathered.
export async function all(path, signal) {
  const out = [];
  await lines(path, (batch) => out.push(...batch), signal);
  return out;
}

export const lives = (parameters, signal) => all(`/debug/lives?${new URLSearchParams(parameters)}`, signal);

// resources are what the server has, by "plural.group", read once and again when asked.
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
            key, plural: r.resource, kind: r.responseKind.kind, namespaced: r.scope === 'Namespaced',
            base: name ? `/apis/${name}/${version.version}` : `/api/${version.version}`,
          });
        }
      }
    }
  }
  return found;
}

// find finds a resource; one that has come since is found by looking again.
export async function find(key) {
  const r = (await resources()).get(key) || (await resources(true)).get(key);
  if (!r) throw new Refused(404, `the server has no ${key}`);
  return r;
}

export function collection(r, namespace) {
  return r.namespaced && namespace ? `${r.base}/namespaces/${encodeURIComponent(namespace)}/${r.plural}` : `${r.base}/${r.plural}`;
}

// at reads a list as it was at a revision; 0 is now. As a table, if asked.
export async function at(r, { namespace, name, revision, table, limit }, signal) {
  const q = new URLSearchParams();
  if (name) q.set('fieldSelector', `metadata.name=${name}`);
  if (limit) q.set('limit', limit);
  if (revision) {
    q.set('resourceVersion', revision);
    q.set('resourceVersionMatch', 'Exact');
  }
  if (table) q.set('includeObject', 'Metadata');
  return json(`${collection(r, namespace)}?${q}`, table ? 'application/json;as=Table;v=v1;g=meta.k8s.io' : 'application/json', signal);
}

// heads reads the metadata of the first so many objects of a kind.
export const heads = (r, limit, signal) => json(`${collection(r, '')}?limit=${limit}`, 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', signal);

// state is one object at a revision, undefined if it was not there.
export async function state(r, namespace, name, revision, signal) {
  const list = await at(r, { namespace, name, revision }, signal);
  const found = (list.items || []).find((o) => (o.metadata.namespace || '') === (namespace || ''));
  return found && { apiVersion: list.apiVersion, kind: r.kind, ...found };
}
