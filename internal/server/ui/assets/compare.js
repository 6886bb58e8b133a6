// Two trees of causes, aligned by their shape: the number of the events and their times in each.
import { h } from './dom.js';
import { events, eventAt, listeners } from './store.js';
import { List } from './list.js';
import { align, change } from './align.js';
import { readTree, rootOf } from './treeread.js';
import { level } from './waterfall.js';
import { action, clock, kind, object, plural, shortUser, span } from './format.js';

const MAX_CHOICES = 200;
const ms = (n) => span(n * 1e6);

export function compareView() {
  let stop = new AbortController();
  let wanted = ''; // the two revisions
  let lines = []; // all
  let seen = []; // the visible ones
  let trees = [];
  let onlyChanged = false;
  const closed = new Set();
  const choices = ['A', 'B'].map((name, i) => h('select', { 'aria-label': `Tree ${name}`, onchange: (e) => go(i, e.target.value) }));
  const swap = h('button', { title: 'Exchange A and B', 'aria-label': 'Exchange A and B', onclick: () => { const [a, b] = wanted.split('/'); location.hash = `#/compare/${b}/${a}`; } }, '⇄');
  const changed = h('input', { type: 'checkbox', onchange: () => { onlyChanged = changed.checked; unfold(); } });
  const sum = h('p.summary', { role: 'status' });
  const heads = h('div.row.pair.heads', ['event', 'A', 'B', 'events', 'time A', 'time B', 'median'].map((t) => h('span', t)));
  const list = new List({
    label: 'Events of both trees', tree: true, count: () => seen.length, draw: (i) => row(seen[i]), key: (i) => seen[i].key,
    open: (i) => fold(seen[i]),
  });
  const el = h('div.table.compare', h('div.bar', h('label', 'A', choices[0]), swap, h('label', 'B', choices[1]), h('label.check', changed, 'only differences')), sum, heads, list.el);

  // roots are the events that caused others, the newest first.
  const roots = () => events.filter((e) => e.root === e.revision && e.effects > 0 && !e.heartbeat).reverse();

  // before is the last root before an event that is most like it.
  function before(revision) {
    const e = eventAt(revision);
    const older = roots().filter((r) => r.revision < revision);
    return e && (older.find((r) => r.resource === e.resource && object(r) === object(e) && r.verb === e.verb) || older.find((r) => r.resource === e.resource) || older[0]);
  }

  function go(i, revision) {
    const pair = wanted.split('/');
    pair[i] = revision;
    location.hash = `#/compare/${pair.map((r) => r || '-').join('/')}`;
  }

  function fill() {
    const all = roots().slice(0, MAX_CHOICES);
    choices.forEach((select, i) => {
      const now = wanted.split('/')[i] || '';
      const listed = all.some((e) => String(e.revision) === now) || !Number(now) ? all : [...all, eventAt(Number(now)) || { revision: now, resource: '', effects: 0 }];
      const key = listed.map((e) => `${e.revision}:${e.effects}`).join();
      if (select.dataset.key === key && select.value === now) return;
      if (document.activeElement === select && select.value === now) return; // being chosen from
      select.dataset.key = key;
      select.replaceChildren(h('option', { value: '' }, 'choose a root cause'), ...listed.map((e) => h('option', { value: e.revision }, e.resource ? `${e.revision} ${kind(e.resource)} ${object(e)}, ${action(e)} at ${clock(e.began).slice(0, 8)}, ${plural(e.effects, 'event')}` : e.revision)));
      select.value = now;
    });
  }

  async function read() {
    stop.abort();
    stop = new AbortController();
    const { signal } = stop;
    const pair = wanted.split('/').map(Number);
    trees = [];
    lines = [];
    unfold();
    if (pair.length < 2 || !pair.every(Boolean)) {
      sum.textContent = roots().length ? 'Choose two root causes, two rollouts of a Deployment for example.' : 'No event has caused others yet.';
      return;
    }
    sum.textContent = 'reading…';
    try {
      const found = await Promise.all(pair.map(async (rev) => readTree(await rootOf(rev, signal), signal)));
      if (signal.aborted) return;
      const lost = found.findIndex((t) => !t);
      if (lost >= 0) {
        sum.textContent = `The trace no longer has ${pair[lost]}.`;
        return;
      }
      trees = found;
      lines = align(...trees);
      total();
      unfold();
    } catch (err) {
      if (err.name !== 'AbortError') sum.textContent = err.message;
    }
  }

  function total() {
    const [a, b] = trees;
    const part = (t, name) => h('span', h('b', name), ' ', h('a', { href: `#/events/${t.root.revision}/tree` }, t.root.revision), ` ${plural(t.nodes.length - 1, 'event')} in ${ms(t.total)}`);
    sum.replaceChildren(part(a, 'A'), part(b, 'B'), h('span', 'B: ', delta(a.nodes.length - 1, b.nodes.length - 1, 'events'), ', ', delta(a.total, b.total, 'time')));
  }

  function unfold() {
    seen = [];
    for (let i = 0; i < lines.length;) {
      const line = lines[i];
      if (!onlyChanged || differs(line) || lines.slice(i + 1, line.end).some(differs)) seen.push(line);
      i = closed.has(line.key) ? line.end : i + 1;
    }
    list.redraw();
  }

  function fold(line) {
    if (!line.hasKids) return;
    if (!closed.delete(line.key)) closed.add(line.key);
    list.selected = line.key;
    unfold();
  }

  function row({ depth, sample, key, hasKids, sides: [a, b] }) {
    const turn = h('span.turn', { 'aria-hidden': 'true', hidden: !hasKids }, closed.has(key) ? '▸' : '▾');
    const scale = Math.max(trees[0].total, trees[1].total);
    const bar = (s, as) => s && h(`i.${as}`, { style: { left: `${(s.from.min / scale) * 100}%`, width: `max(3px, ${((s.to - s.from.min) / scale) * 100}%)` } });
    const name = sample.depth === 0 ? sample.name : '';
    return h(a && b ? 'div.row.pair' : a ? 'div.row.pair.only-a' : 'div.row.pair.only-b', { id: `p${seen.findIndex((l) => l.key === key)}`, ...level({ depth }, hasKids, !closed.has(key)) },
      h('span.label', { style: { paddingLeft: `${Math.min(depth, 14) * (innerWidth > 820 ? 14 : 7)}px` } }, turn, h(`span.type.${sample.type || 'UNKNOWN'}`), h('span.kind', kind(sample.resource)), name && h('span.name', name), h('small', `${action(sample)} · ${shortUser(sample.user)}`)),
      h('span.num', a ? a.count.toLocaleString() : '–'), h('span.num', b ? b.count.toLocaleString() : '–'), count(a, b),
      h('span.track', { title: times(a) }, bar(a, 'rest')), h('span.track', { title: times(b) }, bar(b, 'rest')), time(a, b));
  }

  const times = (s) => (s ? `from ${ms(s.from.min)} to ${ms(s.to)}; each took ${ms(s.took.min)} to ${ms(s.took.max)}, median ${ms(s.took.median)}` : 'none');

  function count(a, b) {
    if (!a || !b) return h('span.num', h('b', a ? 'only in A' : 'only in B'));
    return h('span.num', a.count === b.count ? h('span.dim', '=') : `${b.count > a.count ? '+' : '−'}${Math.abs(b.count - a.count).toLocaleString()}`);
  }

  function time(a, b) {
    if (!a || !b) return h('span.num', ms((a || b).took.median));
    return h('span.num', { title: `A ${ms(a.took.median)}, B ${ms(b.took.median)}` }, h('span.was', `${ms(a.took.median)} → `), `${ms(b.took.median)} `, delta(a.took.median, b.took.median, ''));
  }

  const onEvents = () => fill();
  listeners.add(onEvents);
  return {
    el,
    title: () => wanted.replace('/', ' and '),
    update([first, second]) {
      const number = (text) => (Number(text) > 0 ? String(Number(text)) : '');
      const b = number(second);
      let next = `${number(first)}/${b}`;
      if (number(first) && second === undefined) { // compare with the one before
        const older = before(Number(first));
        next = older ? `${older.revision}/${number(first)}` : next;
        if (older) history.replaceState({ shown: true }, '', `#/compare/${next}`);
      }
      const again = next !== wanted;
      wanted = next;
      fill();
      if (again || !trees.length) read();
    },
    keydown(e) {
      const line = seen.find((l) => l.key === list.selected);
      if ((e.key === 'h' || e.key === 'ArrowLeft') && line && !closed.has(line.key)) fold(line);
      else if ((e.key === 'l' || e.key === 'ArrowRight') && line && closed.has(line.key)) fold(line);
      else if (e.key === 'Escape' && trees.length) location.hash = `#/events/${trees[1].root.revision}/tree`;
      else return list.keydown(e);
      return true;
    },
    destroy() {
      stop.abort();
      listeners.delete(onEvents);
      list.destroy();
    },
  };
}

const NOISE = 0.2; // a change of the time that counts as a difference

function differs({ sides: [a, b] }) {
  return !a || !b || a.count !== b.count || Math.abs(change(a.took.median, b.took.median) || 0) > NOISE;
}

// delta writes a change: +50 %.
function delta(a, b, of) {
  const part = change(a, b);
  if (part === undefined) return h('span.dim', '');
  const percent = Math.round(part * 100);
  const name = Math.abs(part) <= 0.05 ? 'dim' : part > 0 ? 'more' : 'less';
  return h(`span.delta.${name}`, `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${Math.abs(percent).toLocaleString()} %${of && ` ${of}`}`);
}
