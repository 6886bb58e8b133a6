// The events that the page has heard of: the last so many, short, and what can be told of
// streams and queues from them.
import { lines } from './api.js';
import { object } from './format.js';

export const KEPT = 20000;

export const events = []; // by revision
export const listeners = new Set(); // told of each batch
export const deliveries = new Map(); // stream -> {count, last: [ns], at}
export const queues = new Map(); // controller -> Queue
export const facets = { kinds: new Map(), namespaces: new Map() };
// state tells of the stream: begin, live, again (it has ended, and is asked for anew), refused.
export const state = { live: 'begin', error: '', next: 0 };

const RECENT = 256;

function push(ring, value) {
  ring.push(value);
  if (ring.length > RECENT) ring.shift();
}

// since is a time of a delivery, an arrival or a reconcile, counted from the event, or for
// who came later and was told it by replay, from then.
export const since = (x, at) => at - (x.replayed || 0);

// took is the time from an event's beginning to the last that is known of it, in ns.
export function took(e) {
  let last = 0;
  for (const hop of e.hops || []) last = Math.max(last, hop.at);
  for (const d of e.deliveries || []) last = Math.max(last, since(d, d.framed), since(d, d.flushed || 0));
  for (const a of e.arrivals || []) last = Math.max(last, since(a, a.stored));
  for (const w of e.works || []) last = Math.max(last, since(w, w.ended));
  return last;
}

// outcome is what went wrong in the reconciles of an event: '' for nothing.
function outcome(works) {
  if (works.some((w) => w.error && !w.conflict)) return 'failed';
  return works.some((w) => w.conflict) ? 'retried' : '';
}

function hear(e) {
  const began = Date.parse(e.began);
  const kept = {
    revision: e.revision, type: e.type || '', resource: e.resource || '', namespace: e.namespace || '', name: e.name || '',
    verb: e.verb || '', subresource: e.subresource || '', user: e.user || '', began, took: took(e),
    cause: e.causes ? e.causes[0] : 0, outcome: outcome(e.works || []), waiting: (e.waiting || []).length,
  };
  kept.text = `${kept.revision} ${kept.type} ${kept.resource} ${object(kept)} ${kept.verb} ${kept.subresource} ${kept.user}${kept.outcome ? ` ${kept.outcome}` : ''}`.toLowerCase();
  count(facets.kinds, kept.resource);
  count(facets.namespaces, kept.namespace);
  const cached = (e.hops || []).find((hop) => hop.hop === 'cached');
  for (const d of e.deliveries || []) {
    let s = deliveries.get(d.id);
    if (!s) deliveries.set(d.id, s = { count: 0, last: [], at: 0 });
    s.count++;
    s.at = began;
    if (d.flushed && cached) push(s.last, Math.max(0, d.flushed - Math.max(cached.at, d.replayed || 0)));
  }
  for (const w of e.works || []) work(w, began);
  return kept;
}

function count(facet, value) {
  if (value) facet.set(value, (facet.get(value) || 0) + 1);
}

// work enters a reconcile, which may be told by several events.
function work(w, began) {
  let q = queues.get(w.controller);
  if (!q) queues.set(w.controller, q = { name: w.controller, seen: new Set(), works: [], count: 0, failures: 0, conflicts: 0, error: '' });
  if (q.seen.has(w.number)) return;
  q.seen.add(w.number);
  if (q.seen.size > 4 * RECENT) q.seen.delete(q.seen.values().next().value);
  q.count++;
  if (w.conflict) q.conflicts++;
  else if (w.error) {
    q.failures++;
    q.error = w.error;
  }
  push(q.works, {
    queued: began + (w.queued || w.begun) / 1e6, begun: began + w.begun / 1e6, ended: began + w.ended / 1e6,
    waited: w.queued ? Math.max(0, w.begun - w.queued) : 0, ran: w.ended - w.begun, error: w.error,
  });
}

function enter(batch) {
  const fresh = [];
  const last = () => (events.length ? events[events.length - 1].revision : 0);
  for (const e of batch) {
    if (e.revision <= last()) continue;
    const kept = hear(e);
    events.push(kept);
    fresh.push(kept);
  }
  let gone = 0;
  if (events.length > KEPT + 1000) gone = events.splice(0, events.length - KEPT).length;
  if (fresh.length || gone) for (const tell of listeners) tell(fresh, gone);
}

// place is where an event stands or would stand.
export function place(revision) {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (events[mid].revision < revision) low = mid + 1; else high = mid;
  }
  return low;
}

export function known(revision) {
  const e = events[place(revision)];
  return e && e.revision === revision ? e : undefined;
}

function tell(live, error = '', next = 0) {
  state.live = live;
  state.next = next;
  state.error = error;
  dispatchEvent(new Event('live'));
}

let wake = () => {};

// retry asks at once for a stream that has ended.
export function retry() { wake(); }

// follow reads what is kept, and what happens from then on, again and again.
export async function follow() {
  let first = true;
  addEventListener('online', retry);
  for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
    try {
      const from = events.length ? events[events.length - 1].revision + 1 : 1;
      if (first) await lines('/debug/lives?limit=10000', enter);
      else await lines(`/debug/lives?from=${from}`, enter);
      first = false;
      tell('live');
      const next = events.length ? events[events.length - 1].revision + 1 : 1;
      const begun = Date.now();
      await lines(`/debug/lives?follow=true&from=${next}`, enter);
      if (Date.now() - begun > 5000) wait = 500;
      tell('again', 'The server has ended the stream.', Date.now() + wait);
    } catch (err) {
      if (err.code === 401) return;
      const never = err.code === 404 || err.code === 403;
      tell(never ? 'refused' : 'again', err.message, never ? 0 : Date.now() + wait);
      if (never) return;
    }
    await new Promise((done) => {
      wake = done;
      setTimeout(done, wait);
    });
  }
}

// quantile of numbers, 0 if there are none.
export function quantile(numbers, q) {
  if (!numbers.length) return 0;
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}
