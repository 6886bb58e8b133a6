// Statistics of durations.

const at = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] || 0;

// quantile of numbers, 0 of an empty list.
export const quantile = (numbers, q) => at([...numbers].sort((a, b) => a - b), q);

export function summary(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return { count: sorted.length, total: sorted.reduce((sum, n) => sum + n, 0), min: at(sorted, 0), median: at(sorted, 0.5), p95: at(sorted, 0.95), max: at(sorted, 1) };
}

// groups of a tree's durations, by name: the writes of events, or the reconciles of controllers.
export const groupings = {
  kind: (n) => [[n.resource, n.own]],
  verb: (n) => [[n.subresource ? `${n.verb} ${n.subresource}` : n.verb || 'written', n.own]],
  user: (n) => [[n.user || 'the server', n.own]],
  controller: (n) => n.works.map((w) => [w.controller, (w.ended - w.begun) / 1e6, w]),
};

// table returns a row for each group of nodes: {name, failed, conflicts, ...summary}, the largest total first.
export function table(nodes, by) {
  const found = new Map();
  const seen = new Set(); // reconciles, which several events can report
  for (const n of nodes) {
    for (const [name, took, work] of groupings[by](n)) {
      if (work && seen.has(work.number)) continue;
      if (work) seen.add(work.number);
      let g = found.get(name);
      if (!g) found.set(name, g = { name, numbers: [], failed: 0, conflicts: 0 });
      g.numbers.push(took);
      if (work?.conflict) g.conflicts++; else if (work?.error) g.failed++;
    }
  }
  return [...found.values()].map(({ numbers, ...g }) => ({ ...g, ...summary(numbers) })).sort((a, b) => b.total - a.total);
}
