// Two trees of causes side by side: effects with equal heads are one line, with their number and times in each tree.
import { head } from './fold.js';
import { summary } from './stats.js';

// align returns the lines, in the order of a walk: {depth, sample, key, hasKids, end, sides: [side, side]}; a side is
// {count, from, took, own} with the median of the beginnings and summaries of the durations, or undefined.
export function align(a, b) {
  const out = [];
  // Groups of nodes that stand at the same place of each tree.
  const add = (left, right, depth, path) => {
    const sample = left[0] || right[0];
    const line = { depth, sample, key: path, sides: [side(left), side(right)] };
    out.push(line);
    const found = new Map();
    [left, right].forEach((nodes, n) => {
      for (const node of nodes) {
        for (const k of node.kids) {
          // The root's writer may differ between the two; its effects are found by their heads.
          const key = head(k);
          if (!found.has(key)) found.set(key, [[], []]);
          found.get(key)[n].push(k);
        }
      }
    });
    const next = [...found].sort(([, x], [, y]) => begin(x) - begin(y));
    line.hasKids = next.length > 0;
    for (const [key, [x, y]] of next) add(x, y, depth + 1, `${path}/${key}`);
    line.end = out.length;
  };
  add([a.root], [b.root], 0, '');
  return out;
}

const begin = (pair) => Math.min(...pair.filter((nodes) => nodes.length).map((nodes) => nodes.reduce((m, n) => Math.min(m, n.from), Infinity)));

function side(nodes) {
  if (!nodes.length) return undefined;
  return {
    count: nodes.length, from: summary(nodes.map((n) => n.from)), to: nodes.reduce((m, n) => Math.max(m, n.to), 0),
    took: summary(nodes.map((n) => n.took)), own: summary(nodes.map((n) => n.own)),
    conflicts: nodes.filter((n) => n.outcome === 'conflict').length, failed: nodes.filter((n) => n.outcome === 'failed').length,
  };
}

// change is how much larger b is than a, as a number: 0.5 for half as much again; undefined if one is missing.
export const change = (a, b) => (a > 0 && b !== undefined ? b / a - 1 : undefined);
