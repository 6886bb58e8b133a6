// The watchers of the server, and how far each is behind.
import { h, svg } from './dom.js';
import { json } from './api.js';
import { List } from './list.js';
import { clusterTime } from './time.js';
import { deliveries, eventAt } from './store.js';
import { quantile } from './stats.js';
import { inherit, remember } from './address.js';
import { kind, nanoseconds, plural, span, shortUser } from './format.js';

// The filter is kept when one leaves the view and comes back.
const filter = { text: '' };

export function watchersView() {
  const stop = new AbortController();
  let all = [];
  let seen = [];
  let due = 0;
  let loaded = false;
  const sum = h('span.count.dim', { role: 'status' }, 'reading…');
  const search = h('input', { type: 'search', placeholder: 'filter: pods scheduler', 'aria-label': 'Filter', autocomplete: 'off', spellcheck: false });
  const list = new List({
    label: 'Watchers, the latest first', count: () => seen.length, draw: (i) => row(seen[i]), key: (i) => seen[i].id,
    open: (i) => { if (seen[i].oldest || seen[i].reached) location.hash = `#/events/${seen[i].oldest || seen[i].reached}`; },
  });
  const el = h('div.table.watchers', h('div.bar', search, sum),
    h('div.row.heads', ['resource', 'user', 'reached', 'waiting', 'behind', 'sent', 'p50', 'p99', 'last'].map((t) => h('span', t))), list.el);

  function arrange() {
    const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
    seen = all.filter((w) => words.every((word) => `${w.resource} ${w.user} ${w.agent} ${w.namespace || ''} ${w.labelSelector || ''} ${w.fieldSelector || ''}`.toLowerCase().includes(word)));
    seen.sort((a, b) => b.behind - a.behind || b.waiting - a.waiting || (b.reached || 0) - (a.reached || 0) || a.id - b.id);
    list.redraw();
    if (!loaded) return;
    const late = all.filter((w) => w.waiting).length;
    sum.replaceChildren(plural(all.length, 'watcher'), late ? h('b.bad', `, ${late} behind`) : ', none behind');
  }

  async function read() {
    try {
      all = await json('/debug/watchers', 'application/json', stop.signal);
      for (const w of all) {
        const first = w.oldest && eventAt(w.oldest);
        w.behind = first ? Math.max(0, clusterTime() - Math.max(first.began, Date.parse(w.opened) || 0)) : 0;
      }
      loaded = true;
      arrange();
      due = setTimeout(read, 1000);
    } catch (err) {
      if (err.name === 'AbortError') return;
      sum.textContent = err.message;
      if (err.code !== 401) due = setTimeout(read, 3000);
    }
  }

  search.addEventListener('input', () => { filter.text = search.value; remember(filter); arrange(); });
  read();
  return {
    el,
    update() {
      inherit(filter);
      search.value = filter.text;
      arrange();
      list.el.focus({ preventScroll: true });
    },
    keydown: (e) => list.keydown(e),
    destroy() {
      clearTimeout(due);
      stop.abort();
      list.destroy();
    },
  };
}

function row(w) {
  const d = deliveries.get(w.id);
  const what = [w.namespace && `in ${w.namespace}`, !w.fieldSelector && w.name, w.labelSelector, w.fieldSelector].filter(Boolean).join(', ');
  return h(w.waiting ? 'div.row.watcher.late' : 'div.row.watcher', { id: `w${w.id}` },
    h('span.what', { title: w.resource }, kind(w.resource), what && h('small', what)),
    h('span.who', { title: `${w.user} ${w.agent || ''}` }, shortUser(w.user), h('small', w.agent || '')),
    h('span.num', w.reached || '–'),
    h('span.num', w.waiting ? h('b.bad', w.waiting.toLocaleString()) : '0'),
    h('span.num', w.behind ? h('b.bad', span(w.behind * 1e6)) : '–'),
    h('span.num', d ? d.count.toLocaleString() : '0'),
    number(d, 0.5),
    number(d, 0.99),
    h('span.spark', d ? spark(d.last) : ''));
}

function number(d, q) {
  if (!d?.last.length) return h('span.num', '–');
  return h('span.num', { title: `${nanoseconds(quantile(d.last, q))}, of the last ${d.last.length}` }, span(quantile(d.last, q)));
}

// spark draws a sparkline, with the last number at the right.
export function spark(numbers, width = 120, height = 22) {
  const some = numbers.slice(-60);
  const top = Math.max(...some, 1);
  const room = Math.max(20, some.length);
  const points = some.map((n, i) => `${((i + room - some.length) / (room - 1)) * width},${height - 2 - (n / top) * (height - 4)}`).join(' ');
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'sparkline', preserveAspectRatio: 'none', role: 'img', 'aria-label': `up to ${span(top)}` }, svg('polyline', { points }));
}
