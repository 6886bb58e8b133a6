// Time travel: a kind's objects, and each of them, at any revision in the history.
import { h } from './dom.js';
import { at, find, resources, state } from './api.js';
import { List } from './list.js';
import { events, listeners, indexAt } from './store.js';
import { changes } from './diff.js';
import { clock, exact, kind, object, objectAddress, plural } from './format.js';
import { changesTable, stateDetails } from './object.js';

const newest = () => (events.length ? events[events.length - 1].revision : 1);
const oldest = () => (events.length ? events[0].revision : 1);

export function travelView() {
  let stop = new AbortController();
  let args = { resource: 'pods', namespace: '', revision: 0, of: null };
  let rows = [];
  let columns = [];
  let due = 0;
  let key = '';
  const kinds = h('select', { 'aria-label': 'Kind' });
  const namespace = h('input', { placeholder: 'all namespaces', 'aria-label': 'Namespace', autocomplete: 'off', spellcheck: false });
  const number = h('input.number', { inputMode: 'numeric', 'aria-label': 'Revision', autocomplete: 'off' });
  const slider = h('input', { type: 'range', 'aria-label': 'Revision', step: 1 });
  const back = h('button', { title: 'The event before (h)', 'aria-label': 'The event before' }, '‹');
  const on = h('button', { title: 'The next event (l)', 'aria-label': 'The next event' }, '›');
  const present = h('button', { title: 'The present' }, 'Now');
  const when = h('span.dim.when');
  const sum = h('p.dim', { role: 'status' });
  const heads = h('div.row.heads.cells');
  const side = h('section.side', { 'aria-label': 'The object' });
  const list = new List({
    label: 'Objects at the revision', count: () => rows.length, draw: (i) => row(rows[i], columns), key: (i) => keyOf(rows[i].object.metadata),
    choose: (i) => { if (args.of) show(rows[i]); }, open: (i) => show(rows[i]),
  });
  const el = h('div.split.travel', h('section.log', h('div.bar', kinds, h('label', 'in', namespace), h('label', 'at', number), present), h('div.bar.time', back, slider, on, when), sum, heads, list.el), side);

  const keyOf = (m) => `${m.namespace || ''}/${m.name}`;

  function address(change) {
    const a = { ...args, ...change };
    return `#/travel/${encodeURIComponent(a.resource)}/${encodeURIComponent(a.namespace || '-')}/${a.revision || 'now'}${a.of ? `/${encodeURIComponent(a.of.namespace || '-')}/${encodeURIComponent(a.of.name)}` : ''}`;
  }

  const go = (change, replace) => {
    const to = address(change);
    if (to === location.hash) return;
    if (replace) {
      history.replaceState({ shown: true }, '', to);
      dispatchEvent(new HashChangeEvent('hashchange'));
    } else location.hash = to;
  };

  function show(r) {
    go({ of: { namespace: r.object.metadata.namespace || '', name: r.object.metadata.name } }, Boolean(args.of));
  }

  // step goes to the next or previous event of the shown objects.
  function step(by) {
    const about = (e) => e.resource === args.resource && (!args.namespace || e.namespace === args.namespace)
      && (!args.of || (e.name === args.of.name && e.namespace === args.of.namespace));
    let i = args.revision ? indexAt(args.revision) : events.length;
    if (by > 0 && events[i]?.revision !== args.revision) i--;
    for (i += by; i >= 0 && i < events.length; i += by) {
      if (about(events[i])) {
        go({ revision: events[i].revision }, true);
        return;
      }
    }
    if (by > 0) go({ revision: 0 }, true);
  }

  async function read() {
    stop.abort();
    stop = new AbortController();
    const { signal } = stop;
    try {
      const r = await find(args.resource);
      const limit = args.revision ? undefined : 2000; // the present is limited to the first 2,000
      const t = await at(r, { namespace: args.namespace, revision: args.revision, table: true, limit }, signal);
      const shown = t.columnDefinitions.map((c, i) => ({ ...c, i })).filter((c) => !c.priority);
      columns = r.namespaced && !args.namespace ? [{ name: 'Namespace', i: -1 }, ...shown] : shown;
      rows = t.rows || [];
      heads.replaceChildren(...columns.map((c) => h('span', c.name)));
      el.style.setProperty('--columns', columns.map((c) => (c.name === 'Name' ? '2.4fr' : '1fr')).join(' '));
      sum.textContent = `${plural(rows.length, kind(args.resource).replace(/s$/, ''), kind(args.resource))} ${args.revision ? `at revision ${args.revision}` : `now, at revision ${t.metadata.resourceVersion}`}`;
      if (args.of) list.selected = keyOf(args.of);
      list.redraw();
    } catch (err) {
      if (err.name === 'AbortError') return;
      rows = [];
      list.redraw();
      sum.replaceChildren(h('span.bad', err.code === 410 ? `Revision ${args.revision} has been compacted: choose a later one.` : err.message));
    }
  }

  let reading = '';
  async function readObject() {
    el.classList.toggle('beside', Boolean(args.of));
    if (!args.of) {
      side.replaceChildren();
      reading = '';
      return;
    }
    const { of, resource, revision } = args;
    const mine = reading = JSON.stringify([of, resource, revision]);
    try {
      const r = await find(resource);
      const then = await state(r, of.namespace, of.name, revision);
      const now = revision ? await state(r, of.namespace, of.name, 0) : then;
      if (mine !== reading) return;
      const d = then && stateDetails(revision, then);
      if (d) d.open = true;
      side.replaceChildren(h('div.pane', h('a.back', { href: address({ of: null }), 'aria-label': 'Close' }, '×'),
        h('header.about', h('h2', kind(resource), ' ', h('b', object(of))),
          h('p.dim', then ? `as it was ${revision ? `at revision ${revision}; last written at ${then.metadata.resourceVersion}` : `written at revision ${then.metadata.resourceVersion}`}` : `it did not exist at revision ${revision}`),
          h('p', h('a', { href: objectAddress({ resource, ...of }) }, 'its explanation and timeline'))),
        h('div.body', revision > 0 && then && now && h('section', h('h3', 'From then to now'), changesTable(changes(then, now), then, now)),
          revision > 0 && then && !now && h('p.bad', 'It has been deleted since.'), d)));
    } catch (err) {
      if (mine === reading) side.replaceChildren(h('div.pane', h('a.back', { href: address({ of: null }), 'aria-label': 'Close' }, '×'), h('p.bad', err.code === 410 ? 'This state has been compacted.' : err.message)));
    }
  }

  function scale() {
    slider.min = oldest();
    slider.max = newest();
    slider.value = args.revision || newest();
    number.value = args.revision || '';
    number.placeholder = `now (${newest()})`;
    const e = args.revision && events[Math.min(indexAt(args.revision + 1) - 1, events.length - 1)];
    when.title = e ? exact(e.began) : '';
    when.textContent = e ? `${clock(e.began)} · ${kind(e.resource)} ${e.name}` : args.revision ? '' : 'the present, as it changes';
  }

  const onEvents = (fresh) => {
    scale();
    if (args.revision || due || !fresh.some((e) => e.resource === args.resource && (!args.namespace || e.namespace === args.namespace))) return;
    due = setTimeout(() => { due = 0; read(); readObject(); }, 300);
  };

  resources().then((all) => {
    kinds.replaceChildren(...[...all.keys()].sort().map((k) => h('option', { value: k, selected: k === args.resource }, k)));
  }, (err) => { sum.textContent = err.message; });
  kinds.addEventListener('change', () => go({ resource: kinds.value, of: null }));
  namespace.addEventListener('change', () => go({ namespace: namespace.value.trim(), of: null }));
  number.addEventListener('change', () => go({ revision: Math.max(0, parseInt(number.value, 10) || 0) }));
  slider.addEventListener('input', () => go({ revision: Number(slider.value) >= newest() ? 0 : Number(slider.value) }, true));
  back.addEventListener('click', () => step(-1));
  on.addEventListener('click', () => step(1));
  present.addEventListener('click', () => go({ revision: 0 }));
  listeners.add(onEvents);

  return {
    el,
    update([resource, ns, revision, ofNamespace, ofName]) {
      const before = key;
      args = {
        resource: resource || 'pods', namespace: !ns || ns === '-' ? '' : ns, revision: parseInt(revision, 10) || 0,
        of: ofName ? { namespace: ofNamespace === '-' ? '' : ofNamespace, name: ofName } : null,
      };
      kinds.value = args.resource;
      namespace.value = args.namespace;
      scale();
      key = `${args.resource} ${args.namespace} ${args.revision}`;
      if (key !== before) read(); else list.show();
      readObject();
    },
    keydown(e) {
      if (e.key === 'h' || e.key === 'ArrowLeft') step(-1);
      else if (e.key === 'l' || e.key === 'ArrowRight') step(1);
      else if (e.key === 'Escape') go({ of: null });
      else return list.keydown(e);
      return true;
    },
    destroy() {
      stop.abort();
      clearTimeout(due);
      reading = '';
      listeners.delete(onEvents);
      list.destroy();
    },
  };
}

function row(r, columns) {
  const m = r.object.metadata;
  return h('div.row.cells', { id: `o${m.uid}` }, columns.map((c) => {
    const value = c.i < 0 ? m.namespace : r.cells[c.i];
    return h('span', { title: String(value ?? '') }, String(value ?? ''));
  }));
}
