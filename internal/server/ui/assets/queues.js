// The controllers' queues: how deep, how long keys wait in them, how long reconciles take.
import { h } from './dom.js';
import { text } from './api.js';
import { listeners, quantile, queues } from './store.js';
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

// peak is how many keys were queued at once at most, as far as the works tell.
export function peak(works) {
  const steps = works.filter((w) => w.waited).flatMap((w) => [[w.queued, 1], [w.begun, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let depth = 0;
  let most = 0;
  for (const [, by] of steps) most = Math.max(most, depth += by);
  return most;
}

export function queuesView() {
  let depth = new Map();
  let due = 0;
  let drawn = 0;
  let ended = false;
  const ranks = new Map();
  const sum = h('span.count.dim', { role: 'status' });
  const cards = h('div.cards');
  const el = h('div.table.queues', h('div.bar', h('b', 'Queues'), sum), cards);

  function draw() {
    drawn = 0;
    // The busiest first, as it was when the view was opened: what one reads does not move.
    const rank = (q) => (ranks.has(q.name) ? ranks.get(q.name) : Infinity);
    const all = [...queues.values()].sort((a, b) => rank(a) - rank(b) || (depth.get(b.name) || 0) - (depth.get(a.name) || 0) || b.count - a.count || a.name.localeCompare(b.name));
    all.forEach((q, i) => ranks.set(q.name, i));
    sum.textContent = all.length ? `${plural(all.length, 'controller')} had something to do` : 'No controller of the server’s process has had anything to do that is kept.';
    cards.replaceChildren(...all.map(card));
  }

  function card(q) {
    const waits = q.works.map((w) => w.waited);
    const runs = q.works.map((w) => w.ran);
    const now = depth.get(q.name);
    const cell = (ns) => h('td', { title: nanoseconds(ns) }, span(ns));
    const line = (title, numbers) => h('tr', h('th', title), cell(quantile(numbers, 0.5)), cell(quantile(numbers, 0.99)), cell(Math.max(...numbers, 0)), h('td', spark(numbers)));
    return h('article.card', h('h3', q.name),
      h('dl.facts', now !== undefined && [h('dt', 'depth'), h('dd', now)].flat(), q.works.some((w) => w.waited) && [h('dt', 'deepest'), h('dd', peak(q.works))].flat(), h('dt', 'reconciles'), h('dd', q.count.toLocaleString()),
        h('dt', 'failed'), h('dd', q.failures ? h('b.bad', q.failures.toLocaleString()) : '0'),
        q.conflicts > 0 && [h('dt', { title: 'somebody else wrote first, and the key came again' }, 'retried'), h('dd', q.conflicts.toLocaleString())]),
      h('table', h('thead', h('tr', ['', 'p50', 'p99', 'most', 'the last'].map((t) => h('th', t)))), h('tbody', waits.some(Boolean) && line('waited', waits), line('ran', runs))),
      q.error && h('p.bad.clip', { title: q.error }, q.error));
  }

  async function read() {
    try {
      depth = depths(await text('/metrics'));
    } catch { /* who may not read metrics sees what the events tell */ }
    if (ended) return;
    draw();
    due = setTimeout(read, 2000);
  }

  const hear = () => { drawn ||= setTimeout(draw, 300); };
  listeners.add(hear);
  draw();
  read();
  return {
    el,
    update() {},
    gone() {
      ended = true;
      clearTimeout(due);
      clearTimeout(drawn);
      listeners.delete(hear);
    },
  };
}
