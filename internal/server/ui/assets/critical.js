// The critical path of a tree: the chain of causes that ends last, and its time by what it was spent on.

import { elapsed, working } from './life.js';

// The steps between an event and an effect, in their order.
export const steps = { write: 'in requests', deliver: 'on the way to controllers', delay: 'in delays that controllers want', queue: 'in queues', reconcile: 'in reconciles', unknown: 'unknown' };

// criticalPath returns the links from the root to the event that ends last: {node, from, to, parts}, where to is the
// beginning of the next link, and parts are [step, from, to].
export function criticalPath(tree) {
  const last = tree.nodes.reduce((a, b) => (b.to > a.to ? b : a), tree.root);
  const chain = [];
  for (let n = last; n; n = n.parent) chain.unshift(n);
  return chain.map((node, i) => {
    const next = chain[i + 1];
    const to = next ? next.from : node.to;
    const work = next ? node.works.find((w) => w.number === next.work) : latest(node);
    return { node, from: node.from, to, parts: split(node, to, work, Boolean(next)) };
  });
}

// latest is the reconcile with which an event ends, if it ends with one.
function latest(n) {
  const w = n.works.reduce((a, b) => (!a || working(b, b.ended) > working(a, a.ended) ? b : a), undefined);
  return w && working(w, w.ended) / 1e6 >= n.took - 1e-6 ? w : undefined;
}

function split(node, to, work, hasNext) {
  const parts = [];
  let at = node.from;
  const until = (step, end) => {
    const stop = Math.min(Math.max(end, at), to);
    if (stop > at) parts.push([step, at, stop]);
    at = stop;
  };
  until('write', node.from + node.own);
  if (work) {
    // Without an effect after it the delay is no part of the event's time.
    const since = (ns) => node.from + (hasNext ? ns : elapsed(work, ns)) / 1e6;
    const begun = hasNext ? since(work.begun) : node.from + working(work, work.begun) / 1e6;
    until('deliver', since(work.queued || work.begun));
    if (hasNext) until('delay', since((work.queued || work.begun) + (work.delayed || 0)));
    until('queue', begun);
    until('reconcile', to);
  } else until(hasNext ? 'unknown' : 'deliver', to);
  return parts;
}

// spent adds up the parts of a path, by step.
export function spent(path) {
  const sums = {};
  for (const link of path) for (const [step, from, to] of link.parts) sums[step] = (sums[step] || 0) + to - from;
  return sums;
}
