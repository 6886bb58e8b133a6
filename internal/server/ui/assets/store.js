// The events that the page has received: short forms of the last MAX_EVENTS, and statistics of
// streams and queues that are computed from them.
import { lines } from './api.js';
import { action, object } from './format.js';
import { tell } from './time.js';
import { CONFLICT, duration, isHeartbeat, outcome, preciseTime, sent } from './life.js';

export const MAX_EVENTS = 20000;

export const events = []; // by revision
export const listeners = new Set(); // called with each batch
export const deliveries = new Map(); // stream -> {count, last: [ns], at}
export const queues = new Map(); // controller -> Queue
// facets are the values of the filters that occur, with the number of events: facets.kinds.get('pods').
export const facets = { kinds: new Map(), namespaces: new Map(), users: new Map(), verbs: new Map(), controllers: new Map() };
// state is the stream's: begin, live, again (it has ended and is opened again), refused.
export const state = { live: 'begin', error: '', next: 0 };

const RECENT = 256;

function push(ring, value) {
  ring.push(value);
  if (ring.length > RECENT) ring.shift();
}

const NONE = [];
const authors = new Map(); // number of a reconcile that wrote -> [its controller]
const MAX_DEPTH = 1000; // causes above an event that count it

function summarize(e) {
  const began = preciseTime(e.began);
  const works = e.works || [];
  const event = {
    revision: e.revision, type: e.type || '', resource: e.resource || '', namespace: e.namespace || '', name: e.name || '',
    verb: e.verb || '', subresource: e.subresource || '', user: e.user || '', began, took: duration(e), sent: sent(e),
    cause: e.causes ? e.causes[0] : 0, outcome: outcome(works), waiting: (e.waiting || []).length, heartbeat: isHeartbeat(e),
    controllers: works.length || e.work ? [...new Set([...works.map((w) => w.controller), ...(authors.get(e.work) || [])])] : NONE,
    root: e.revision, effects: 0, // of the tree of causes: its root, and the number of events below this one
  };
  // Of the whole tree, in its root: the end, the worst outcome and whether a watcher still waits.
  event.tree = { took: event.took, outcome: event.outcome, waiting: event.waiting };
  event.text = `${event.revision} ${event.type} ${event.resource} ${object(event)} ${event.verb} ${event.subresource} ${event.user} ${event.outcome === 'conflict' ? CONFLICT : event.outcome}`.toLowerCase();
  count(facets.kinds, event.resource);
  count(facets.namespaces, event.namespace);
  count(facets.users, event.user);
  count(facets.verbs, event.verb);
  if (event.subresource) count(facets.verbs, action(event));
  for (const name of event.controllers) count(facets.controllers, name);
  const cached = (e.hops || []).find((hop) => hop.hop === 'cached');
  for (const d of e.deliveries || []) {
    let s = deliveries.get(d.id);
    if (!s) deliveries.set(d.id, s = { count: 0, last: [], at: 0 });
    s.count++;
    s.at = began;
    if (d.flushed && cached) push(s.last, Math.max(0, d.flushed - Math.max(cached.at, d.replayed || 0)));
  }
  for (const w of works) {
    addReconcile(w, began);
    if (w.writes) authors.set(w.number, [w.controller]);
  }
  if (authors.size > MAX_EVENTS) authors.delete(authors.keys().next().value);
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

// link counts an event among the effects of its causes.
function link(event) {
  let root = event;
  for (let n = 0; n < MAX_DEPTH; n++) {
    const above = root.cause && root.cause < root.revision ? eventAt(root.cause) : undefined;
    if (!above) break;
    above.effects++;
    root = above;
  }
  event.root = root.revision;
  const { tree } = root;
  tree.took = Math.max(tree.took, (event.began - root.began) * 1e6 + event.took);
  tree.waiting = Math.max(tree.waiting, event.waiting);
  if (event.outcome === 'failed' || !tree.outcome) tree.outcome = event.outcome;
}

function addBatch(batch) {
  const fresh = [];
  const last = () => (events.length ? events[events.length - 1].revision : 0);
  for (const e of batch) {
    if (e.revision <= last()) continue;
    const event = summarize(e);
    events.push(event);
    tell(event.began);
    link(event);
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
      if (first) await lines(`/debug/lives?limit=${MAX_EVENTS}`, addBatch);
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
