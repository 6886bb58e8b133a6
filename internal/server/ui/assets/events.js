// The explorer of events: a plot of durations over time, the live list, and beside it the selected event.
import { h } from './dom.js';
import { List } from './list.js';
import { events, listeners, eventAt, state } from './store.js';
import { address, inherit, remember } from './address.js';
import { clock, action, exact, kind, nanoseconds, object, objectAddress, plural, span, shortUser } from './format.js';
import { EMPTY, RANGES, matcher, outcomeOf, parseDuration, sorted, took, waits } from './filter.js';
import { durationText, filterBar } from './filterbar.js';
import { CONFLICT } from './life.js';
import { Scatter } from './scatter.js';
import { eventPane } from './event.js';
import { clusterTime } from './time.js';

const filter = { ...EMPTY }; // kept when one leaves the view and comes back
const plotted = { colour: 'kind', hidden: false }; // of the plot

const PERIOD = 500; // ms between two drawings of the plot, and two orders of a sorted list
const HEADS = [['rev', 'revision'], ['time', 'time', 'time'], ['type', ''], ['kind', 'kind'], ['name', 'object'], ['deed', 'action and user'], ['outcome', 'result'], ['effects', 'caused', 'effects'], ['took', 'took', 'took']];

export function eventsView() {
  let match = matcher(filter);
  let seen = []; // events that pass the filter, by revision
  let order = []; // the same in another order, if the filter has one
  let paused = 0; // since when
  let missed = 0;
  let due = 0;
  let pane = null;
  const trees = () => filter.show === 'trees';
  const byTime = () => filter.sort === '';
  const at = (i) => (byTime() ? seen[seen.length - 1 - i] : order[i]);
  const now = () => paused || clusterTime();

  const count = h('span.count.dim', { role: 'status' });
  const pause = h('button', { title: 'Pause (p)', 'aria-pressed': false, onclick: () => hold() }, 'Pause');
  const controls = filterBar(filter, filtered);
  const plot = new Scatter({ open: (e) => go(e.revision), select: region });
  const colour = h('select', { 'aria-label': 'Colour', onchange: () => { plotted.colour = colour.value; draw(); } }, h('option', { value: 'kind' }, 'colour: kind'), h('option', { value: 'result' }, 'colour: result'));
  const back = h('button', { title: 'All times and durations (Esc)', onclick: () => all() }, 'Zoom out');
  const hide = h('button', { onclick: () => { plotted.hidden = !plotted.hidden; draw(); } });
  const title = h('span.dim');
  const chart = h('section.chart', { 'aria-label': 'Durations over time' }, h('div.over', title, h('span.tools', back, colour, hide)), plot.el);
  const list = new List({
    label: 'Events', count: () => (byTime() ? seen : order).length, draw: (i) => row(at(i), trees()), key: (i) => at(i).revision,
    choose: (i) => { if (el.classList.contains('beside') && !narrow()) go(at(i).revision); },
    open: (i) => go(at(i).revision),
  });
  const side = h('section.side', { 'aria-label': 'The event' });
  const none = h('div.empty.dim');
  const heads = h('div.row.event.heads');
  const el = h('div.split.explorer', h('section.log',
    h('div.bar', controls.bar, pause, count), controls.panel, chart, heads, none, list.el), side);

  function refilter() {
    match = matcher(filter);
    seen = events.filter(match);
    expire();
    arrange();
    say();
    drawHeads();
  }

  function arrange() {
    order = byTime() ? [] : sorted(seen, filter);
    list.redraw();
    draw();
  }

  // expire removes events that are older than a time window that moves.
  function expire() {
    if (!filter.last) return false;
    const first = now() - RANGES[filter.last];
    let n = 0;
    while (n < seen.length && seen[n].began < first) n++;
    seen.splice(0, n);
    return n > 0;
  }

  // draw draws the plot for the present filter.
  function draw() {
    chart.classList.toggle('closed', plotted.hidden);
    hide.textContent = plotted.hidden ? 'Show plot' : 'Hide plot';
    colour.hidden = plotted.hidden;
    colour.value = plotted.colour;
    const zoomed = filter.from || filter.to || filter.min || filter.max;
    back.hidden = !zoomed;
    title.textContent = plotted.hidden ? '' : trees() ? 'Duration of each root cause’s tree' : 'Duration of each event';
    if (plotted.hidden) return;
    const [first, last] = seen.length ? [seen[0].began, seen[seen.length - 1].began] : [now() - 60e3, now()];
    const margin = Math.max((last - first) * 0.01, 500);
    const to = Number(filter.to) || (filter.last ? now() : last + margin);
    const from = Number(filter.from) || (filter.last ? to - RANGES[filter.last] : first - margin);
    plot.set(seen, { from, to, min: parseDuration(filter.min) || 0, max: parseDuration(filter.max) || 0, trees: trees(), colour: plotted.colour });
  }

  // later draws the plot and orders the list after a while.
  function later() {
    due ||= setTimeout(() => {
      due = 0;
      if (paused) return;
      const gone = expire();
      if (byTime() && !trees()) {
        if (gone) list.redraw();
        draw();
      } else {
        if (trees()) seen = events.filter(match); // trees have grown
        expire();
        arrange();
      }
      if (gone) say();
    }, PERIOD);
  }

  function say() {
    const what = trees() ? 'root cause' : 'event';
    count.textContent = paused && missed ? `paused, ${plural(missed, 'new one')}` : plural(seen.length, what);
    none.hidden = seen.length > 0;
    if (none.hidden) return;
    if (events.length) none.replaceChildren(h('p', 'No event passes the filter.'), h('button', { onclick: clear }, 'Show all'));
    else none.replaceChildren(h('p', state.live === 'begin' ? 'reading…' : 'There are no events yet.'), h('p', 'Change something, ', h('code', 'kubectl create deployment web --image=nginx'), ' for example, and its events appear here.'));
  }

  function drawHeads() {
    heads.replaceChildren(...HEADS.map(([name, text, sort]) => {
      if (!sort) return h(name === 'type' ? 'span' : `span.${name}`, text);
      const ways = sort === 'time' ? ['', 'time'] : [`-${sort}`, sort]; // descending at first
      const way = ways.indexOf(filter.sort);
      return h(`span.${name}`, h('button.sort', { title: `Sort by ${text}`, 'aria-pressed': String(way >= 0), onclick: () => sortBy(ways[way === 0 ? 1 : 0]) }, text, ['▾', '▴'][way]));
    }));
  }

  function sortBy(sort) {
    filter.sort = sort;
    controls.show();
    filtered();
  }

  // region is a selection in the plot.
  function region({ from, to, min, max }) {
    Object.assign(filter, { last: '', from: String(Math.floor(from)), to: String(Math.ceil(to)), ...(min && { min: durationText(min), max: durationText(max) }) });
    controls.show();
    filtered();
  }

  function all() {
    Object.assign(filter, { last: '', from: '', to: '', min: '', max: '' });
    controls.show();
    filtered();
  }

  function filtered() {
    remember(filter);
    refilter();
  }

  function clear() {
    Object.assign(filter, EMPTY, { heartbeats: '1' });
    controls.show();
    filtered();
  }

  function onEvents(fresh, removed) {
    controls.show();
    const some = fresh.filter(match);
    if (paused) {
      missed += some.length;
      say();
      return;
    }
    for (const e of some) seen.push(e);
    if (removed) {
      const first = events[0].revision;
      let n = 0;
      while (n < seen.length && seen[n].revision < first) n++;
      seen.splice(0, n);
    }
    if (byTime()) list.shift(some.length);
    later();
    say();
  }

  function hold(on = !paused) {
    paused = on ? clusterTime() : 0;
    missed = 0;
    pause.textContent = paused ? 'Resume' : 'Pause';
    pause.setAttribute('aria-pressed', Boolean(paused));
    if (!paused) refilter();
    say();
  }

  listeners.add(onEvents);
  addEventListener('live', say);
  const clockwork = setInterval(later, 1000); // the axis of time moves without events, too
  controls.show();
  refilter();

  return {
    el,
    title: () => address().parts[1],
    update([revision, tab]) {
      const before = JSON.stringify(filter);
      inherit(filter);
      if (JSON.stringify(filter) !== before) {
        controls.show();
        refilter();
      }
      const rev = Number(revision) || 0;
      el.classList.toggle('beside', rev > 0);
      el.classList.toggle('large', tab === 'tree');
      if (!rev) {
        pane?.destroy();
        pane = null;
        side.replaceChildren();
        list.el.focus({ preventScroll: true });
        return;
      }
      list.reveal(rev);
      if (pane?.revision !== rev) {
        pane?.destroy();
        pane = eventPane(rev);
        side.replaceChildren(pane.el);
      }
      pane.show(tab || 'hops');
    },
    keydown(e) {
      if (plot.keydown(e)) return true;
      if (pane?.keydown(e)) return true;
      const about = list.selected && eventAt(list.selected);
      if (e.key === 'p') hold();
      else if (e.key === 'Escape' && address().parts[1]) location.hash = '#/events';
      else if (e.key === 'Escape' && !back.hidden) all();
      else if ((e.key === 'o' || e.key === 'y') && about) location.hash = objectAddress(about);
      else if (e.key === 'c' && list.selected) location.hash = `#/events/${list.selected}/tree`;
      else if (e.key === 'w' && list.selected) location.hash = `#/events/${list.selected}`;
      else return list.keydown(e);
      return true;
    },
    destroy() {
      listeners.delete(onEvents);
      removeEventListener('live', say);
      clearInterval(clockwork);
      clearTimeout(due);
      plot.destroy();
      list.destroy();
      pane?.destroy();
    },
  };
}

const narrow = () => matchMedia('(max-width: 820px)').matches;

function go(revision) {
  const tab = filter.show === 'trees' || address().parts[2] === 'tree' ? '/tree' : '';
  location.hash = `#/events/${revision}${tab}`;
}

function row(e, trees) {
  return h('div.row.event', { id: `e${e.revision}` },
    h('span.rev', e.revision),
    h('span.time', { title: exact(e.began) }, clock(e.began)),
    h(`span.type.${e.type || 'UNKNOWN'}`, { title: e.type }),
    h('span.kind', kind(e.resource)),
    h('span.name', { title: object(e) }, e.namespace ? [h('i', `${e.namespace}/`), e.name] : e.name),
    h('span.deed', `${action(e)} by ${shortUser(e.user)}`),
    outcome(e, trees),
    h('span.effects', { title: plural(e.effects, 'event') + ' caused' }, e.effects ? e.effects.toLocaleString() : ''),
    h('span.took', { title: nanoseconds(took(e, trees)) }, span(took(e, trees))));
}

function outcome(e, trees) {
  const cell = (as, sign, text, title) => h(`span.outcome.${as}`, { title }, h('i', { 'aria-hidden': 'true' }, sign), ' ', h('span', text));
  if (waits(e, trees)) return cell('bad', '…', 'waits', 'a watcher has not been sent it');
  if (outcomeOf(e, trees) === 'failed') return cell('bad', '✕', 'failed', 'a reconcile failed');
  if (outcomeOf(e, trees) === 'conflict') return cell('retried', '↻', CONFLICT, `${CONFLICT}: another writer was first`);
  return h('span.outcome');
}
