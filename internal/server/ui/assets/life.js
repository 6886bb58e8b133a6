// Facts about an event, from its life as /debug/lives returns it.

// elapsed is the time from the event to a step of a delivery, an arrival or a reconcile. For
// a watch that was opened later and got the event by replay it counts from the opening.
export const elapsed = (x, at) => at - (x.replayed || 0);

// working is the time from the event to a step of a reconcile, without a delay that its controller wanted.
export const working = (w, at) => elapsed(w, at) - (w.delayed || 0);

// written is the time from an event's beginning until readers of the server can see it, in ns.
export const written = (e) => (e.hops || []).reduce((last, hop) => Math.max(last, hop.at), 0);

// duration is the time from an event's beginning to its last known step, in ns.
export function duration(e) {
  let last = written(e);
  for (const d of e.deliveries || []) last = Math.max(last, elapsed(d, d.framed), elapsed(d, d.flushed || 0));
  for (const a of e.arrivals || []) last = Math.max(last, elapsed(a, a.stored));
  for (const w of e.works || []) last = Math.max(last, working(w, w.ended));
  return last;
}

// sent is the time from an event's beginning to the end of its last delivery, in ns; 0 without a delivery.
export const sent = (e) => (e.deliveries || []).reduce((last, d) => (d.flushed ? Math.max(last, elapsed(d, d.flushed)) : last), 0);

// outcome is the result of an event's reconciles: 'failed', 'conflict' (another writer was first, and the key is
// tried again) or ''.
export function outcome(works = []) {
  if (works.some((w) => w.error && !w.conflict)) return 'failed';
  return works.some((w) => w.conflict) ? 'conflict' : '';
}

export const CONFLICT = 'conflict, tried again';

// preciseTime parses a time with its digits below milliseconds; the result is in milliseconds.
export function preciseTime(time) {
  const [, fraction] = /\.(\d+)/.exec(time) || [];
  return Math.floor(Date.parse(time) / 1000) * 1000 + (fraction ? Number(`0.${fraction}`) * 1000 : 0);
}

// isHeartbeat reports whether an event only renews a Lease or repeats the status of a node.
export const isHeartbeat = (e) => e.resource === 'leases.coordination.k8s.io'
  || (e.resource === 'nodes' && e.subresource === 'status' && /^system:node(:|$)/.test(e.user || ''));
