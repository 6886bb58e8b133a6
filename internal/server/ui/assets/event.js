// One event: its hops as a waterfall, and its tree of causes.
import { h } from './dom.js';
import { lives } from './api.js';
import { CONFLICT, duration, elapsed, working } from './life.js';
import { action, kind, moment, nanoseconds, object, objectAddress, span, shortUser } from './format.js';
import { rawMenu } from './raw.js';
import { treePane } from './tree.js';
import { clusterTime } from './time.js';

export function eventPane(revision) {
  const stop = new AbortController();
  const head = h('header.about', h('h2', revision));
  const body = h('div.body');
  const tabs = {
    hops: h('a', { href: `#/events/${revision}`, title: 'Hops (w)' }, 'Hops'),
    tree: h('a', { href: `#/events/${revision}/tree`, title: 'Causes (c)' }, 'Causes'),
  };
  const objectLink = h('a', { title: 'The object: its explanation and its timeline (o)' }, 'Object');
  const raw = rawMenu(`event-${revision}`, () => (tree ? { tree: tree.root() } : { from: revision, to: revision }));
  const nav = h('nav.tabs', tabs.hops, tabs.tree, objectLink, raw);
  const el = h('div.pane', h('a.back', { href: '#/events', 'aria-label': 'Close' }, '×'), head, nav, body);
  let life = null;
  let tree = null;
  let shown = '';
  let again = 0;

  async function read() {
    try {
      [life] = await lives({ from: revision, to: revision }, stop.signal);
    } catch (err) {
      if (err.name !== 'AbortError') body.replaceChildren(h('p.bad', err.message));
      return;
    }
    if (!life) {
      head.replaceChildren(h('h2', `Revision ${revision}`));
      body.replaceChildren(h('p.empty.dim', 'The trace no longer has this event.'));
      return;
    }
    objectLink.href = objectAddress(life);
    head.replaceChildren(...about(life));
    if (shown === 'hops') body.replaceChildren(waterfall(life));
    // A recent event, or one with waiting watchers, is read again.
    if ((life.waiting || clusterTime() - Date.parse(life.began) < 3000) && !stop.signal.aborted) again = setTimeout(read, 1000);
  }

  read();
  return {
    revision,
    el,
    show(tab) {
      if (shown === tab) return;
      shown = tab;
      for (const [name, a] of Object.entries(tabs)) {
        if (name === tab) a.setAttribute('aria-current', 'page'); else a.removeAttribute('aria-current');
      }
      tree?.destroy();
      tree = null;
      if (tab === 'tree') {
        tree = treePane(revision);
        body.replaceChildren(tree.el);
      } else body.replaceChildren(life ? waterfall(life) : h('p.dim', 'reading…'));
    },
    keydown: (e) => tree?.keydown(e) || false,
    destroy() {
      clearTimeout(again);
      stop.abort();
      tree?.destroy();
    },
  };
}

function about(e) {
  return [
    h('h2', h(`span.type.${e.type || 'UNKNOWN'}`, { title: e.type }), h('span', kind(e.resource)), ' ', h('b', object(e))),
    h('p.dim', `revision ${e.revision} · ${(e.type || 'unknown').toLowerCase()} · `, moment(Date.parse(e.began)), ' · ', h('span', { title: nanoseconds(duration(e)) }, span(duration(e)))),
    h('p', e.verb ? `${action(e)} by ${shortUser(e.user)}` : 'written by the server itself', e.agent && h('span.dim', ` with ${e.agent}`),
      e.causes && ['; because of ', ...causes(e.causes)]),
  ];
}

function causes(revisions) {
  const max = 6;
  const out = revisions.slice(0, max).flatMap((rev, i) => [i ? ', ' : '', h('a', { href: `#/events/${rev}` }, rev)]);
  if (revisions.length > max) out.push(` and ${revisions.length - max} more`);
  return out;
}

// replayed is the note for a watch that was opened after the event.
const replayed = (x) => x.replayed && `replayed to a watch opened ${span(x.replayed)} later`;

const selection = (s) => [s.namespace && `in ${s.namespace}`, !s.fieldSelector && s.name, s.labelSelector, s.fieldSelector].filter(Boolean).join(', ');

const MAX_ROWS = 200; // per section

// parts are the sections of a waterfall, as {title, rows: [{name, note, from, to, sort}]}.
function parts(e) {
  let before = 0;
  const hops = (e.hops || []).map((hop) => {
    const r = { name: hop.hop, from: before, to: hop.at, sort: 'hop', note: hop.hop === 'cached' ? `${e.topics} watched selection${e.topics === 1 ? '' : 's'}` : '' };
    before = hop.at;
    return r;
  });
  const sent = (e.deliveries || []).map((d) => ({
    name: shortUser(d.user), note: [selection(d) || (/^fairlead\//.test(d.agent) ? '' : d.agent), replayed(d), d.flushed ? '' : 'not written yet'].filter(Boolean).join(' · '),
    from: elapsed(d, d.framed), to: elapsed(d, d.flushed || d.framed), sort: d.flushed ? 'sent' : 'late',
  })).concat((e.waiting || []).map((d) => ({ name: shortUser(d.user), note: `${d.agent || ''} not sent yet`, late: true, sort: 'late' })));
  const faults = (e.faults || []).map((f) => {
    const at = Math.max(0, (Date.parse(f.at) - Date.parse(e.began)) * 1e6);
    return { name: f.what, note: [`fault ${f.fault}`, shortUser(f.stream?.user || f.user)].join(' · '), from: at, to: at, sort: 'fault' };
  });
  const informers = (e.arrivals || []).map((a) => ({ name: `informer of ${kind(a.resource)}`, note: [shortUser(/\((.*)\)$/.exec(a.agent || '')?.[1] || a.process || a.agent), selection(a), replayed(a)].filter(Boolean).join(' · '), from: elapsed(a, a.read), to: elapsed(a, a.stored), sort: 'seen' }));
  const works = (e.works || []).flatMap((w) => [
    w.queued ? { name: `${w.controller} · queued`, note: [w.key, w.delayed >= 1e6 && `put off for ${span(w.delayed)} by the controller`].filter(Boolean).join(' · '), from: elapsed(w, w.queued), to: working(w, w.begun), sort: 'queued' } : null,
    {
      name: w.controller, key: w.key, from: working(w, w.begun), to: working(w, w.ended), sort: w.conflict ? 'work conflict' : w.error ? 'failed' : 'work', writes: w.writes,
      note: w.conflict ? `${CONFLICT}: ${w.error}` : w.error ? w.error + (w.failures > 1 ? ` (${w.failures} times)` : '') : w.writes ? '' : `${w.key}: no change`,
    },
  ].filter(Boolean));
  return [
    { title: 'In the server', rows: hops }, { title: 'To watchers', rows: sent },
    { title: 'Injected faults', rows: faults }, { title: 'In informers', rows: informers }, { title: 'In controllers', rows: works },
  ].filter((p) => p.rows.length);
}

export function waterfall(e) {
  const total = Math.max(duration(e), 1);
  const percent = (ns) => `${(Math.min(Math.max(ns, 0), total) / total) * 100}%`;
  const scale = h('div.scale', { 'aria-hidden': 'true' }, [0, 0.25, 0.5, 0.75, 1].map((part) => h('span', { style: { left: `${part * 100}%` } }, span(total * part))));
  return h('div.waterfall', h('div.fall.top', h('span'), scale, h('span')), parts(e).map((p) => h('section', h('h3', p.title, p.rows.length > 3 && h('span.dim', ` ${p.rows.length}`)),
    p.rows.slice(0, MAX_ROWS).map((r) => h(`div.fall.${r.sort}`,
      h('span.label', { title: `${r.name} ${r.note}` }, r.name, r.writes ? h('small', ' wrote ', ...causes(r.writes)) : r.note && h('small', r.note)),
      h('span.track', r.late ? null : h('i', { style: { left: percent(r.from), width: `max(3px, ${((Math.max(r.to - r.from, 0)) / total) * 100}%)` } })),
      h('span.at', r.late ? 'waits' : { title: `from ${nanoseconds(r.from)} to ${nanoseconds(r.to)}` }, r.late ? '' : span(r.to)))),
    p.rows.length > MAX_ROWS && h('p.dim', `and ${p.rows.length - MAX_ROWS} more`))));
}
