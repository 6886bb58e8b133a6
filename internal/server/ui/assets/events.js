// The live log of events, and beside it the selected event.
import { h } from './dom.js';
import { List } from './list.js';
import { events, listeners, facets, eventAt, state } from './store.js';
import { address, inherit, remember } from './address.js';
import { clock, action, exact, kind, nanoseconds, object, objectAddress, plural, span, shortUser } from './format.js';
import { eventPane } from './event.js';

// The filter is kept when one leaves the view and comes back.
const filter = { text: '', kind: '', namespace: '' };

function matcher() {
  const words = filter.text.toLowerCase().split(/\s+/).filter((w) => w && w !== '-');
  const no = words.filter((w) => w[0] === '-').map((w) => w.slice(1));
  const yes = words.filter((w) => w[0] !== '-');
  return (e) => (!filter.kind || e.resource === filter.kind) && (!filter.namespace || e.namespace === filter.namespace)
    && yes.every((w) => e.text.includes(w)) && !no.some((w) => e.text.includes(w));
}

export function eventsView() {
  let match = matcher();
  let seen = []; // events that pass the filter, by revision
  let paused = false;
  let missed = 0;
  let pane = null;
  const at = (i) => seen[seen.length - 1 - i]; // the newest first

  const count = h('span.count.dim', { role: 'status' });
  const search = h('input', { type: 'search', placeholder: 'filter: web pods -events', 'aria-label': 'Filter', value: filter.text, spellcheck: false, autocomplete: 'off' });
  const kinds = h('select', { 'aria-label': 'Kind' });
  const namespaces = h('select', { 'aria-label': 'Namespace' });
  const pause = h('button', { title: 'Pause (p)', 'aria-pressed': false }, 'Pause');
  const list = new List({
    label: 'Events, the newest first', count: () => seen.length, draw: (i) => row(at(i)), key: (i) => at(i).revision,
    choose: (i) => { if (el.classList.contains('beside') && !narrow()) go(at(i).revision); },
    open: (i) => go(at(i).revision),
  });
  const side = h('section.side', { 'aria-label': 'The event' });
  const none = h('div.empty.dim');
  const heads = h('div.row.event.heads', { 'aria-hidden': 'true' }, ['rev', 'time', 'type', 'kind', 'name', 'deed', 'took'].map((name, i) => h(name === 'type' ? 'span' : `span.${name}`, ['revision', 'time', '', 'kind', 'object', 'action and user', 'took'][i])));
  const el = h('div.split', h('section.log',
    h('div.bar', search, kinds, namespaces, pause, count), heads, none, list.el), side);

  function refilter() {
    match = matcher();
    seen = events.filter(match);
    list.redraw();
    say();
  }

  function say() {
    count.textContent = paused && missed ? `paused, ${plural(missed, 'new one')}` : plural(seen.length, 'event');
    none.hidden = seen.length > 0;
    if (none.hidden) return;
    if (events.length) none.replaceChildren(h('p', 'No event passes the filter.'), h('button', { onclick: clear }, 'Show all'));
    else none.replaceChildren(h('p', state.live === 'begin' ? 'reading…' : 'There are no events yet.'), h('p', 'Change something, ', h('code', 'kubectl create deployment web --image=nginx'), ' for example, and its events appear here.'));
  }

  function filtered() {
    remember(filter);
    refilter();
  }

  function clear() {
    Object.assign(filter, { text: '', kind: '', namespace: '' });
    show();
    filtered();
  }

  function show() {
    search.value = filter.text;
    facet(kinds, facets.kinds, filter.kind, 'all kinds');
    facet(namespaces, facets.namespaces, filter.namespace, 'all namespaces');
    kinds.value = filter.kind;
    namespaces.value = filter.namespace;
  }

  function facet(select, all, chosen, title, write = (v) => v) {
    const names = [...all.keys()].sort();
    if (chosen && !all.has(chosen)) names.push(chosen);
    if (select.dataset.names === names.join()) return;
    select.dataset.names = names.join();
    select.replaceChildren(h('option', { value: '' }, title), ...names.map((n) => h('option', { value: n, selected: n === chosen }, write(n))));
  }

  function onEvents(fresh, removed) {
    facet(kinds, facets.kinds, filter.kind, 'all kinds');
    facet(namespaces, facets.namespaces, filter.namespace, 'all namespaces');
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
    list.shift(some.length);
    say();
  }

  function hold(on = !paused) {
    paused = on;
    missed = 0;
    pause.textContent = paused ? 'Resume' : 'Pause';
    pause.setAttribute('aria-pressed', paused);
    if (!paused) refilter();
    say();
  }

  search.addEventListener('input', () => { filter.text = search.value; filtered(); });
  kinds.addEventListener('change', () => { filter.kind = kinds.value; filtered(); });
  namespaces.addEventListener('change', () => { filter.namespace = namespaces.value; filtered(); });
  pause.addEventListener('click', () => hold());
  listeners.add(onEvents);
  addEventListener('live', say);
  show();
  refilter();

  return {
    el,
    title: () => address().parts[1],
    update([revision, tab]) {
      const before = JSON.stringify(filter);
      inherit(filter);
      if (JSON.stringify(filter) !== before) {
        show();
        refilter();
      }
      const rev = Number(revision) || 0;
      el.classList.toggle('beside', rev > 0);
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
      if (pane?.keydown(e)) return true;
      if (e.key === 'y' && list.selected) {
        const about = eventAt(list.selected);
        if (about) location.hash = `${objectAddress(about)}`;
        return true;
      }
      if (e.key === 'p') hold();
      else if (e.key === 'Escape') location.hash = '#/events';
      else if (e.key === 'o' && list.selected) {
        const about = eventAt(list.selected);
        if (about) location.hash = objectAddress(about);
      } else if (e.key === 'c' && list.selected) location.hash = `#/events/${list.selected}/tree`;
      else if (e.key === 'w' && list.selected) location.hash = `#/events/${list.selected}`;
      else return list.keydown(e);
      return true;
    },
    destroy() {
      listeners.delete(onEvents);
      removeEventListener('live', say);
      list.destroy();
      pane?.destroy();
    },
  };
}

const narrow = () => matchMedia('(max-width: 820px)').matches;

function go(revision) {
  const tab = address().parts[2] === 'tree' ? '/tree' : '';
  location.hash = `#/events/${revision}${tab}`;
}

function row(e) {
  return h('div.row.event', { id: `e${e.revision}` },
    h('span.rev', e.revision),
    h('span.time', { title: exact(e.began) }, clock(e.began)),
    h(`span.type.${e.type || 'UNKNOWN'}`, { title: e.type }),
    h('span.kind', kind(e.resource)),
    h('span.name', { title: object(e) }, e.namespace ? [h('i', `${e.namespace}/`), e.name] : e.name),
    h('span.deed', `${action(e)} by ${shortUser(e.user)}`),
    h('span.took', { title: nanoseconds(e.took) }, e.waiting ? h('b.bad', { title: 'a watcher has not been sent it' }, 'waits') : outcome(e)));
}

function outcome(e) {
  if (e.outcome === 'failed') return h('b.bad', { title: 'a reconcile failed' }, 'failed');
  if (e.outcome === 'retried') return h('span.retried', { title: `${nanoseconds(e.took)}; a reconcile had a conflict with another write and was retried` }, 'retried');
  return span(e.took);
}
