// The events of a trace as a tree of causes. Times are in ms since the root began.
import { duration, outcome, preciseTime, written } from './life.js';

// brief is the part of a life that the views of a tree need.
export function brief(e) {
  return {
    revision: e.revision, type: e.type || '', resource: e.resource || '', namespace: e.namespace || '', name: e.name || '',
    verb: e.verb || '', subresource: e.subresource || '', user: e.user || '', cause: e.causes?.[0] || 0, work: e.work || 0,
    began: preciseTime(e.began), own: written(e) / 1e6, took: duration(e) / 1e6, works: e.works || [], outcome: outcome(e.works),
  };
}

// Tree has the nodes in the order of a walk from the root: a node stands before its effects, which end before node.end.
export class Tree {
  constructor(root, briefs) {
    const byRevision = new Map(briefs.map((b) => [b.revision, b]));
    const first = byRevision.get(root) || briefs[0];
    for (const b of briefs) b.kids = [];
    for (const b of briefs) if (b !== first && b.cause < b.revision) byRevision.get(b.cause)?.kids.push(b);
    this.root = first;
    this.nodes = [];
    this.total = 0.001;
    const walk = [[first, 0, undefined]]; // a stack: chains of causes can be long
    while (walk.length) {
      const [n, depth, parent] = walk.pop();
      Object.assign(n, { depth, parent, from: n.began - first.began, index: this.nodes.length });
      n.to = n.from + n.took;
      this.nodes.push(n);
      this.total = Math.max(this.total, n.to);
      for (let i = n.kids.length - 1; i >= 0; i--) walk.push([n.kids[i], depth + 1, n]);
    }
    for (let i = this.nodes.length - 1; i >= 0; i--) {
      const n = this.nodes[i];
      n.end = n.kids.length ? n.kids.at(-1).end : i + 1;
      n.last = n.kids.reduce((last, k) => Math.max(last, k.last), n.to); // the end of the whole subtree
    }
  }

  find(revision) { return this.nodes.find((n) => n.revision === revision); }
}
