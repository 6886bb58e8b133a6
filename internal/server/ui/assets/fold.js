// Equal subtrees of a tree of causes, folded into one row.
import { summary } from './stats.js';

export const FEW = 4; // equal subtrees, from which they are folded

// head is the part of an event by which it is compared with others.
export const head = (n) => `${n.type} ${n.resource} ${n.verb} ${n.subresource} ${n.user}`;

// Shapes gives equal subtrees the same number. Subtrees are equal if their roots and their effects are, in whatever
// order and however often.
export class Shapes {
  constructor() { this.numbers = new Map(); }

  number(key) {
    let n = this.numbers.get(key);
    if (n === undefined) this.numbers.set(key, n = this.numbers.size);
    return n;
  }

  // mark sets the shape of all nodes.
  mark(tree) {
    for (let i = tree.nodes.length - 1; i >= 0; i--) {
      const n = tree.nodes[i];
      const kids = n.kids.length > 1 ? [...new Set(n.kids.map((k) => k.shape))].sort((a, b) => a - b) : n.kids.map((k) => k.shape);
      n.shape = this.number(`${head(n)}${n.outcome === 'failed' ? ' failed' : ''}|${kids.join()}`);
    }
  }
}

// Group is a set of equal subtrees with one cause.
class Group {
  constructor(parent, members) {
    Object.assign(this, { parent, members, depth: members[0].depth, key: `g${parent.revision}.${members[0].shape}` });
    this.from = members.reduce((m, n) => Math.min(m, n.from), Infinity);
    this.to = members.reduce((m, n) => Math.max(m, n.last), 0);
    this.events = members.reduce((sum, n) => sum + n.end - n.index, 0);
    this.took = summary(members.map((n) => n.last - n.from));
    this.conflicts = 0;
    for (const n of members) for (const k of below(n)) if (k.outcome === 'conflict') this.conflicts++;
  }

  // chain is the sequence of the events in a member, each sort once: [{resource, action}].
  get chain() {
    const seen = new Set();
    return [...below(this.members[0])].filter((n) => !seen.has(head(n)) && seen.add(head(n)));
  }
}

function* below(n) {
  yield n;
  for (const k of n.kids) yield* below(k);
}

// rows returns the visible rows of a tree: nodes and Groups. closed has the revisions whose effects are hidden, open
// the keys of the groups whose members are shown; folding is false to show every subtree by itself.
export function rows(tree, { closed, open, folding }) {
  const out = [];
  const walk = [tree.root]; // a stack of nodes and groups
  while (walk.length) {
    const row = walk.pop();
    out.push(row);
    const next = row instanceof Group ? (open.has(row.key) ? row.members : []) : closed.has(row.revision) ? [] : folding ? folded(row) : row.kids;
    for (let i = next.length - 1; i >= 0; i--) walk.push(next[i]);
  }
  return out;
}

// folded are the effects of a node, with equal ones as one Group in the place of the first.
function folded(n) {
  if (n.kids.length < FEW) return n.kids;
  if (n.foldedKids) return n.foldedKids;
  const alike = new Map();
  for (const k of n.kids) {
    if (alike.has(k.shape)) alike.get(k.shape).push(k); else alike.set(k.shape, [k]);
  }
  return n.foldedKids = [...alike.values()].flatMap((members) => (members.length < FEW ? members : [new Group(n, members)])).sort((a, b) => a.from - b.from);
}

export const isGroup = (row) => row instanceof Group;
