// The events that the page has received: short forms of the last MAX_EVENTS, and statistics of
// streams and queues that are computed from them.
import { lines } from './api.js';
import { object } from './format.js';

export const MAX_EVENTS = 20000;

export const events = []; // by revision
export const listeners = new Set(); // called with each batch
export const deliveries = new Map(); // stream -> {count, last: [ns], at}
export const queues = new Map(); // controller -> Queue
export const facets = { kinds: new Map(), namespaces: new Map() };
// state is the stream's: begin, live, again (it has ended and is opened again), refused.
export const state = { live: 'begin', error: '', next: 0 };

const RECENT = 256;

function push(ring, value) {
  ring.push(value);
  if (ring.length > RECENT) ring.shift();
}

// elapsed is the time from the event to a step of a delivery, an arrival or a reconcile. For
// a watch that was opened later and got the event by replay it counts from the opening.
export const elapsed = (x, at) => at - (x.replayed || 0);

// duration is the time from an event's beginning to its last known step, in ns.
export function duration(e) {
  let last = 0;
  for (const hop of e.hops || []) last = Math.max(last, hop.at);
  for (const d of e.deliveries || []) last = Math.max(last, elapsed(d, d.framed), elapsed(d, d.flushed || 0));
  for (const a of e.arrivals || []) last = Math.max(last, elapsed(a, a.stored));
  for (const w of e.works || []) last = Math.max(last, elapsed(w, w.ended));
  return last;
}

// sent is the time from an event's beginning to the end of its last delivery, in ns; 0 without a delivery.
function sent(e) {
  return Math.max(0, ...(e.deliveries || []).filter((d) => d.flushed).map((d) => elapsed(d, d.flushed)));
}

// outcome is the result of an event's reconciles: 'failed', 'retried' or ''.
function outcome(works) {
  if (works.some((w) => w.error && !w.conflict)) return 'failed';
  return works.some((w) => w.conflict) ? 'retried' : '';
}

function summarize(e) {
  const began = Date.parse(e.began);
  const event = {
    revision: e.revision, type: e.type || '', resource: e.resource || '', namespace: e.namespace || '', name: e.name || '',
    verb: e.verb || '', subresource: e.subresource || '', user: e.user || '', began, took: duration(e), sent: sent(e),
    cause: e.causes ? e.causes[0] : 0, outcome: outcome(e.works || []), waiting: (e.waiting || []).length,
  };
  event.text = `${event.revision} ${event.type} ${event.resource} ${object(event)} ${event.verb} ${event.subresource} ${event.user}${event.outcome ? ` ${event.outcome}` : ''}`.toLowerCase();
  count(facets.kinds, event.resource);
  count(facets.namespaces, event.namespace);
  const cached = (e.hops || []).find((hop) => hop.hop === 'cached');
  for (const d of e.deliveries || []) {
    let s = deliveries.get(d.id);
    if (!s) deliveries.set(d.id, s = { count: 0, last: [], at: 0 });
    s.count++;
    s.at = began;
    if (d.flushed && cached) push(s.last, Math.max(0, d.flushed - Math.max(cached.at, d.replayed || 0)));
  }
  for (const w of e.works || []) addReconcile(w, began);
  return event;
}

function count(facet, value) {
  if (value) facet.set(value, (facet.get(value) || 0) + 1);
}

// addReconcile counts a reconcile once, since several events can report it.
function addReconcile(w, began) {
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

function addBatch(batch) {
  const fresh = [];
  const last = () => (events.length ? events[events.length - 1].revision : 0);
  for (const e of batch) {
    if (e.revision <= last()) continue;
    const event = summarize(e);
    events.push(event);
    fresh.push(event);
  }
  let removed = 0;
  if (events.length > MAX_EVENTS + 1000) removed = events.splice(0, events.length - MAX_EVENTS).length;
  if (fresh.length || removed) for (const notify of listeners) notify(fresh, removed);
}

// indexAt is the index of an event, or where it would be inserted.
export function indexAt(revision) {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (events[mid].revision < revision) low = mid + 1; else high = mid;
  }
  return low;
}

export function eventAt(revision) {
  const e = events[indexAt(revision)];
  return e && e.revision === revision ? e : undefined;
}

function setState(live, error = '', next = 0) {
  state.live = live;
  state.next = next;
  state.error = error;
  dispatchEvent(new Event('live'));
}

let wake = () => {};

// retry opens a stream that has ended at once.
export function retry() { wake(); }

// follow reads the events of the trace and then follows new ones. It reconnects after errors.
export async function follow() {
  let first = true;
  addEventListener('online', retry);
  for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
    try {
      const from = events.length ? events[events.length - 1].revision + 1 : 1;
      if (first) await lines('/debug/lives?limit=10000', addBatch);
      else await lines(`/debug/lives?from=${from}`, addBatch);
      first = false;
      setState('live');
      const next = events.length ? events[events.length - 1].revision + 1 : 1;
      const begun = Date.now();
      await lines(`/debug/lives?follow=true&from=${next}`, addBatch);
      if (Date.now() - begun > 5000) wait = 500;
      setState('again', 'The server has ended the stream.', Date.now() + wait);
    } catch (err) {
      if (err.code === 401) return;
      const final = err.code === 404 || err.code === 403;
      setState(final ? 'refused' : 'again', err.message, final ? 0 : Date.now() + wait);
      if (final) return;
    }
    await new Promise((done) => {
      wake = done;
      setTimeout(done, wait);
    });
  }
}

// quantile of numbers, 0 of an empty list.
export function quantile(numbers, q) {
  if (!numbers.length) return 0;
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}
