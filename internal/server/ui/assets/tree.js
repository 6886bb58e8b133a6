// The tree of causes that contains an event, from its first cause down, over time.
import { h } from './dom.js';
import { lives } from './api.js';
import { List } from './list.js';
import { eventAt, listeners, duration } from './store.js';
import { action, kind, moment, nanoseconds, object, plural, span, shortUser } from './format.js';

// rootOf follows the causes up to the first event without a known cause.
async function rootOf(revision, signal) {
  let at = revision;
  for (let steps = 0; steps < 200; steps++) {
    const e = eventAt(at) || (await lives({ from: at, to: at }, signal)).map((l) => ({ cause: l.causes ? l.causes[0] : 0 }))[0];
    if (!e) break;
    if (!e.cause || (!eventAt(e.cause) && !(await lives({ from: e.cause, to: e.cause }, signal)).length)) break;
    at = e.cause;
  }
  return at;
}

export function treePane(revision) {
  const stop = new AbortController();
  const folded = new Set();
  let nodes = []; // all, in the order of the tree, with depth
  let seen = []; // the visible nodes
  let revisions = new Set(); // of all nodes
  let total = 1;
  let root = 0;
  let due = 0;
  const sum = h('p.dim', 'reading…');
  const list = new List({
    label: 'The effects of the event', count: () => seen.length, draw: (i) => row(seen[i]), key: (i) => seen[i].revision,
    open: (i) => { location.hash = `#/events/${seen[i].revision}/tree`; },
  });
  list.selected = revision;
  const el = h('div.tree', sum, list.el);

  async function read() {
    due = 0;
    try {
      root ||= await rootOf(revision, stop.signal);
      arrange(await lives({ tree: root }, stop.signal));
    } catch (err) {
      if (err.name !== 'AbortError') sum.textContent = err.message;
    }
  }

  function arrange(all) {
    if (!all.length) {
      sum.textContent = 'The trace no longer has this event.';
      return;
    }
    const effects = new Map();
    const byRevision = new Map(all.map((e) => [e.revision, e]));
    for (const e of all) {
      const cause = e.causes?.[0];
      if (e.revision !== root && byRevision.has(cause)) effects.set(cause, [...(effects.get(cause) || []), e]);
    }
    const begin = Date.parse(all[0].began);
    total = 0.001;
    nodes = [];
    const walk = (e, depth) => {
      const from = preciseTime(e.began) - preciseTime(all[0].began);
      const own = Math.max(...(e.hops || []).map((hop) => hop.at), 0) / 1e6;
      const children = effects.get(e.revision) || [];
      total = Math.max(total, from + duration(e) / 1e6);
      const node = { revision: e.revision, e, depth, from, own, to: from + duration(e) / 1e6, children: children.length, end: 0 };
      nodes.push(node);
      for (const c of children) walk(c, depth + 1);
      node.end = nodes.length;
    };
    walk(all[0], 0);
    revisions = new Set(nodes.map((n) => n.revision));
    unfold();
    sum.replaceChildren(all.length > 1 ? `${plural(all.length - 1, 'event')} caused by ` : 'No other event is caused by ',
      h('a', { href: `#/events/${root}/tree` }, root), all.length > 1 ? `, in ${span(total * 1e6)}` : '', ' · ', moment(begin));
    const i = list.index();
    if (i >= 0) list.select(i);
  }

  function unfold() {
    seen = [];
    for (let i = 0; i < nodes.length;) {
      seen.push(nodes[i]);
      i = folded.has(nodes[i].revision) ? nodes[i].end : i + 1;
    }
    list.redraw();
  }

  function fold(node, on) {
    if (!node?.children) return false;
    if (on) folded.add(node.revision); else folded.delete(node.revision);
    unfold();
    return true;
  }

  function row(n) {
    const { e } = n;
    const toggle = h('button.turn', { tabIndex: -1, 'aria-label': folded.has(n.revision) ? 'unfold' : 'fold', hidden: !n.children }, folded.has(n.revision) ? '▸' : '▾');
    toggle.addEventListener('click', (ev) => { ev.stopPropagation(); fold(n, !folded.has(n.revision)); });
    const label = h('span.label', { style: { paddingLeft: `${Math.min(n.depth, 12) * (innerWidth > 820 ? 16 : 9)}px` } }, toggle, h(`span.type.${e.type || 'UNKNOWN'}`),
      h('span.kind', kind(e.resource)), h('span.name', { title: `${object(e)}: ${action(e)} by ${shortUser(e.user)}` }, e.name), h('small', `${action(e)} · ${shortUser(e.user)}`));
    return h('div.row.node', { id: `t${n.revision}` }, label,
      h('span.track', { title: `written in ${span(n.own * 1e6)}; received by all in ${span((n.to - n.from) * 1e6)}` }, bar(n.from, n.to - n.from, 'i.rest'), bar(n.from, n.own, 'i.own')),
      h('span.at', { title: nanoseconds(n.from * 1e6) }, span(n.from * 1e6)));
  }

  const bar = (from, length, as) => h(as, { style: { left: `${(from / total) * 100}%`, width: `max(3px, ${(length / total) * 100}%)` } });

  const onEvents = (fresh) => {
    if (!due && root && fresh.some((e) => e.cause && revisions.has(e.cause))) due = setTimeout(read, 500);
  };
  listeners.add(onEvents);
  read();
  return {
    el,
    keydown(e) {
      const node = seen[list.index()];
      if (e.key === 'h' || e.key === 'ArrowLeft') return fold(node, true);
      if (e.key === 'l' || e.key === 'ArrowRight') return fold(node, false);
      return list.keydown(e);
    },
    destroy() {
      clearTimeout(due);
      listeners.delete(onEvents);
      list.destroy();
      stop.abort();
    },
  };
}

// preciseTime parses a time with its digits below milliseconds; the result is in milliseconds.
function preciseTime(time) {
  const [, fraction] = /\.(\d+)/.exec(time) || [];
  return Math.floor(Date.parse(time) / 1000) * 1000 + (fraction ? Number(`0.${fraction}`) * 1000 : 0);
}
