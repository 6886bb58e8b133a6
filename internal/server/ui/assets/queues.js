// The controllers' queues: their depth, the waiting time of keys, the duration of reconciles.
import { h } from './dom.js';
import { text } from './api.js';
import { listeners, queues } from './store.js';
import { quantile } from './stats.js';
import { nanoseconds, plural, span } from './format.js';
import { spark } from './watchers.js';

// depths reads workqueue_depth from the metrics, by queue.
export function depths(metrics) {
  const found = new Map();
  for (const line of metrics.split('\n')) {
    const hit = /^workqueue_depth\{([^}]*)\} (\S+)/.exec(line);
    const name = hit && /(?:^|,)(?:name|controller)="([^"]*)"/.exec(hit[1]);
    if (name) found.set(name[1], (found.get(name[1]) || 0) + Number(hit[2]));
  }
  return found;
}

// peak is the maximum number of keys that were queued at once, by the known reconciles.
export function peak(works) {
  const steps = works.filter((w) => w.waited).flatMap((w) => [[w.queued, 1], [w.begun, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let depth = 0;
  let max = 0;
  for (const [, by] of steps) max = Math.max(max, depth += by);
  return max;
}

export function queuesView() {
  let depth = new Map();
  let due = 0;
  let drawn = 0;
  let ended = false;
  const ranks = new Map();
  const sum = h('span.count.dim', { role: 'status' });
  const cards = h('div.cards');
  const el = h('div.table.queues', { tabIndex: 0, role: 'region', 'aria-label': 'Queues' }, h('div.bar', h('b', 'Queues'), sum), cards);

  function draw() {
    drawn = 0;
    // The busiest first, in the order of the view's opening, so that cards do not move.
    const rank = (q) => (ranks.has(q.name) ? ranks.get(q.name) : Infinity);
    const all = [...queues.values()].sort((a, b) => rank(a) - rank(b) || (depth.get(b.name) || 0) - (depth.get(a.name) || 0) || b.count - a.count || a.name.localeCompare(b.name));
    all.forEach((q, i) => ranks.set(q.name, i));
    sum.textContent = all.length ? `${plural(all.length, 'controller')} with reconciles` : 'The trace has no reconciles of controllers.';
    cards.replaceChildren(...all.map(card));
  }

  function card(q) {
    const waits = q.works.map((w) => w.waited);
    const runs = q.works.map((w) => w.ran);
    const now = depth.get(q.name);
    const cell = (ns) => h('td', { title: nanoseconds(ns) }, span(ns));
    const line = (title, numbers) => h('tr', h('th', title), cell(quantile(numbers, 0.5)), cell(quantile(numbers, 0.99)), cell(Math.max(...numbers, 0)), h('td', spark(numbers)));
    return h('article.card', h('h2', q.name),
      h('dl.facts', now !== undefined && [h('dt', 'depth'), h('dd', now)].flat(), q.works.some((w) => w.waited) && [h('dt', 'deepest'), h('dd', peak(q.works))].flat(), h('dt', 'reconciles'), h('dd', q.count.toLocaleString()),
        h('dt', 'failed'), h('dd', q.failures ? h('b.bad', q.failures.toLocaleString()) : '0'),
        q.conflicts > 0 && [h('dt', { title: 'another writer was first; the key was queued again' }, 'conflicts, tried again'), h('dd.retried', q.conflicts.toLocaleString())]),
      h('table', h('thead', h('tr', h('td'), ['p50', 'p99', 'max', 'latest'].map((t) => h('th', t)))), h('tbody', waits.some(Boolean) && line('waited', waits), line('ran', runs))),
      q.error && h('p.bad.clip', { title: q.error }, q.error));
  }

  async function read() {
    try {
      depth = depths(await text('/metrics'));
    } catch { /* without the right to read metrics: only the events' data */ }
    if (ended) return;
    draw();
    due = setTimeout(read, 2000);
  }

  const onEvents = () => { drawn ||= setTimeout(draw, 300); };
  listeners.add(onEvents);
  draw();
  read();
  return {
    el,
    update() {},
    destroy() {
      ended = true;
      clearTimeout(due);
      clearTimeout(drawn);
      listeners.delete(onEvents);
    },
  };
}
