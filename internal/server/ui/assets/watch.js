// Lists that a watch keeps up to date.
import { json, lines } from './api.js';

const PAGE = 500; // objects of a request

// A repetition of the request does not change these errors.
const final = (err) => err.name === 'AbortError' || [400, 401, 403, 404, 405, 406, 422].includes(err.code);

const pause = (ms, signal) => new Promise((done) => {
  const t = setTimeout(done, ms);
  signal.addEventListener('abort', () => { clearTimeout(t); done(); }, { once: true });
});

// listAndWatch reads a list in pages and then watches it, until the signal aborts. It calls
// page(list, first, last) with each page, change(events) with batches of the watch's events, and
// state(name, message) with 'reading', 'live', 'still' (the list cannot be watched) or 'again'
// (the request failed and is repeated). It throws the errors that a repetition does not change.
export async function listAndWatch(path, { query = {}, accept = 'application/json', page, change, state }, signal) {
  for (let wait = 500; !signal.aborted; wait = Math.min(2 * wait, 10000)) {
    try {
      state('reading');
      let revision = await readPages(path, query, accept, page, signal);
      state('live');
      wait = 500;
      while (revision) {
        const begun = Date.now();
        revision = await watch(path, query, accept, revision, change, signal);
        if (revision && Date.now() - begun < 1000) await pause(1000, signal);
      }
    } catch (err) {
      if (final(err)) throw err;
      state('again', err.message);
    }
    await pause(wait, signal);
  }
}

// readPages returns the revision of the list.
export async function readPages(path, query, accept, page, signal) {
  let next;
  for (let first = true; first || next; first = false) {
    const q = new URLSearchParams({ ...query, limit: PAGE, ...(next && { continue: next }) });
    if (next) for (const key of ['resourceVersion', 'resourceVersionMatch']) q.delete(key);
    const list = await json(`${path}?${q}`, accept, signal);
    next = list.metadata.continue;
    page(list, first, !next);
    if (!next) return list.metadata.resourceVersion;
  }
  return undefined;
}

// watch returns the last revision when the server ends the watch, and nothing when it has expired.
async function watch(path, query, accept, revision, change, signal) {
  let last = revision;
  let expired = false;
  const q = new URLSearchParams({ ...query, watch: 'true', allowWatchBookmarks: 'true', resourceVersion: revision });
  await lines(`${path}?${q}`, (batch) => {
    if (batch.some((e) => e.type === 'ERROR')) expired = true;
    for (const e of batch) last = e.object.rows?.[0]?.object.metadata.resourceVersion || e.object.metadata?.resourceVersion || last;
    const changes = batch.filter((e) => e.type !== 'ERROR' && e.type !== 'BOOKMARK');
    if (changes.length) change(changes);
  }, signal, accept);
  return expired ? undefined : last;
}
