// An object's timeline: its states, the changes from each to the next, and their users.
import { h } from './dom.js';
import { find, listMetadata, lives, resources, state } from './api.js';
import { events, eventAt, listeners } from './store.js';
import { whyCard } from './why.js';
import { changes, owners, pathText, short, yaml } from './diff.js';
import { clock, action, exact, kind, moment, object, objectAddress, plural, shortUser } from './format.js';

const MAX_REVISIONS = 60; // revisions that are shown at once
const MAX_OBJECTS = 1000; // objects of a kind that are listed
const CONCURRENT = 4; // kinds that are read at once

export function objectView() {
  const el = h('div.object');
  let stop = new AbortController();
  let now = '';
  let onEvents = null;
  let why = null;

  async function show(resource, namespace, name) {
    const address = [resource, namespace, name].join('/');
    if (now === address) return;
    now = address;
    stop.abort();
    stop = new AbortController();
    const { signal } = stop;
    listeners.delete(onEvents);
    why?.destroy();
    why = null;
    if (!name) {
      choose();
      return;
    }
    const about = { resource, namespace, name };
    const sum = h('p.dim', 'reading…');
    const line = h('ol.timeline');
    const present = h('section.present');
    why = whyCard(about);
    el.replaceChildren(h('header.about', h('h2', kind(resource), ' ', h('b', object(about))),
      sum, h('p', h('a', { href: '#/object' }, 'another object'), ' · ', h('a', { href: `#/travel/${encodeURIComponent(resource)}/${namespace || '-'}/now` }, `all ${kind(resource)} through time`), ' · ', h('a', { href: `#/events?${new URLSearchParams({ text: name, kind: resource, namespace })}` }, 'its events'))),
      why.el, present, h('h3', 'Timeline'), line);
    const states = new Map(); // revision -> state, undefined if deleted; no entry if compacted
    let due = 0;

    async function read() {
      due = 0;
      try {
        const r = await find(resource);
        const [all, current] = await Promise.all([lives({ resource, namespace, name }, signal), state(r, namespace, name, 0, signal)]);
        if (current) states.set(Number(current.metadata.resourceVersion), current);
        const some = all.slice(-MAX_REVISIONS);
        let lost = 0;
        for (const e of [...some].reverse()) { // the newest are kept the longest
          if (states.has(e.revision)) continue;
          try {
            states.set(e.revision, e.type === 'DELETED' ? undefined : await state(r, namespace, name, e.revision, signal));
          } catch (err) {
            if (err.code !== 410) throw err;
            lost = e.revision;
            break;
          }
        }
        showPresent(current);
        draw(all, some, lost);
      } catch (err) {
        if (err.name !== 'AbortError') sum.replaceChildren(h('span.bad', err.message));
      }
    }

    // showPresent shows the present state, which can be read also without events.
    function showPresent(current) {
      const revision = current ? current.metadata.resourceVersion : '';
      if (present.dataset.revision === revision) return;
      const open = !present.dataset.revision || present.querySelector('details')?.open;
      present.dataset.revision = revision;
      if (!current) {
        present.replaceChildren(h('h3', 'Now'), h('p.dim', 'It does not exist.'));
        return;
      }
      const details = stateDetails(revision, current);
      present.replaceChildren(h('h3', 'Now'), h('p.dim', `as written at revision ${revision}`), details);
      details.open = open && !eventAt(Number(revision)); // a recent state is in the timeline too
    }

    function draw(all, some, lost) {
      sum.textContent = all.length ? `${plural(all.length, 'revision')}${all.length > some.length ? `, the last ${some.length} of them here` : ''}` : 'The trace has no events of this object.';
      const open = new Set([...line.querySelectorAll('details[open]')].map((d) => d.dataset.revision));
      line.replaceChildren(...some.map((e, i) => step(e, some[i - 1], all.length > some.length || i > 0 || e.type !== 'ADDED')).reverse());
      if (lost) line.append(h('li.lost.dim', `Earlier states, up to revision ${lost}, have been compacted.`));
      for (const d of line.querySelectorAll('details')) d.open = open.has(d.dataset.revision);
    }

    function step(e, before, follows) {
      const has = states.has(e.revision);
      const to = states.get(e.revision);
      const hasBefore = before && states.has(before.revision) && before.type !== 'DELETED';
      let body;
      if (e.type === 'DELETED') body = h('p.dim', 'deleted');
      else if (!has) body = null;
      else if (hasBefore) body = changesTable(changes(states.get(before.revision) || {}, to || {}), states.get(before.revision), to);
      else body = h('p.dim', follows && e.type !== 'ADDED' ? 'the previous state has been compacted' : 'created');
      return h('li', { className: e.type },
        h('div.when', h('a.rev', { href: `#/events/${e.revision}` }, e.revision), moment(Date.parse(e.began))),
        h('div.what', h('p', h(`span.type.${e.type || 'UNKNOWN'}`), h('b', action(e)), ` by ${shortUser(e.user)}`, e.agent && h('span.dim', ` with ${e.agent}`),
          e.causes && h('span.dim', ', because of ', h('a', { href: `#/events/${e.causes[0]}` }, e.causes[0]), e.causes.length > 1 && ` and ${e.causes.length - 1} more`)),
        body, to && stateDetails(e.revision, to)));
    }

    onEvents = (fresh) => {
      if (!due && fresh.some((e) => e.resource === resource && e.namespace === (namespace || '') && e.name === name)) due = setTimeout(read, 400);
    };
    listeners.add(onEvents);
    signal.addEventListener('abort', () => clearTimeout(due));
    await read();
  }

  const selectable = (e) => e.name && e.resource !== 'events' && e.resource !== 'events.events.k8s.io' && e.resource !== 'leases.coordination.k8s.io';

  // choose lists the objects with events, the latest first, and then all other objects.
  async function choose() {
    stop = new AbortController();
    const { signal } = stop;
    const found = new Map();
    const listed = new Map();
    const more = new Set(); // kinds with more objects than are read
    let reading = true;
    for (const e of events) if (selectable(e)) found.set(`${e.resource}/${object(e)}`, e);
    const search = h('input', { type: 'search', placeholder: 'deployments web', 'aria-label': 'Object', autocomplete: 'off', spellcheck: false });
    const list = h('ul.choice');
    let due = 0;
    const draw = () => {
      due = 0;
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const others = [...listed].filter(([k]) => !found.has(k)).map(([, e]) => e);
      const hits = [...[...found.values()].reverse(), ...others].filter((e) => words.every((w) => e.text.includes(w)));
      const shown = hits.slice(0, 200);
      list.replaceChildren(...shown.map((e) => h('li', h('a', { href: objectAddress(e) }, h('span.kind', kind(e.resource)), ' ', h('span.name', object(e)), e.began && h('small', { title: exact(e.began) }, clock(e.began))))));
      if (hits.length > shown.length) list.append(h('li.dim', `and ${(hits.length - shown.length).toLocaleString()} more`));
      else if (!hits.length) list.append(h('li.dim', reading ? 'reading…' : 'No object matches.'));
      if (more.size) list.append(h('li.dim', `Only the first ${MAX_OBJECTS.toLocaleString()} ${[...more].map(kind).join(', ')} are here. Time travel has all.`));
    };

    async function read(r) {
      try {
        const l = await listMetadata(r, MAX_OBJECTS, signal);
        for (const { metadata: m } of l.items || []) {
          const e = { resource: r.key, namespace: m.namespace || '', name: m.name };
          e.text = `${e.resource} ${object(e)}`.toLowerCase();
          listed.set(`${e.resource}/${object(e)}`, e);
        }
        if (l.metadata.continue) more.add(r.key);
      } catch (err) {
        if (err.name === 'AbortError' || err.code === 401) throw err; // others may not be listed
      }
      due ||= setTimeout(draw, 300);
    }

    async function readAll() {
      try {
        const left = [...(await resources()).values()].filter((r) => selectable({ resource: r.key, name: 'any' })).sort((a, b) => a.key.localeCompare(b.key));
        await Promise.all(Array.from({ length: CONCURRENT }, async () => { while (left.length) await read(left.shift()); }));
        reading = false;
        draw();
      } catch { /* gone, or logged out */ }
    }
    search.addEventListener('input', draw);
    search.addEventListener('keydown', (e) => { if (e.key === 'Enter') list.querySelector('a')?.click(); });
    el.replaceChildren(h('header.about', h('h2', 'Which object?'), search), list);
    signal.addEventListener('abort', () => clearTimeout(due));
    readAll();
    draw();
    search.focus();
    onEvents = (fresh) => {
      for (const e of fresh) if (selectable(e)) found.set(`${e.resource}/${object(e)}`, e);
      due ||= setTimeout(draw, 300);
    };
    listeners.add(onEvents);
  }

  return {
    el,
    update([resource, namespace, name]) { show(resource || '', !namespace || namespace === '-' ? '' : namespace, name || ''); },
    keydown(e) {
      if (e.key === 'Escape') {
        if (history.length > 1) history.back(); else location.hash = '#/object';
        return true;
      }
      const links = [...el.querySelectorAll('.choice a, .why summary, .timeline a.rev')];
      const by = { j: 1, k: -1 }[e.key];
      if (!by || !links.length) return false;
      links[Math.max(0, Math.min(links.length - 1, links.indexOf(document.activeElement) + by))].focus();
      return true;
    },
    destroy() {
      stop.abort();
      why?.destroy();
      listeners.delete(onEvents);
    },
  };
}

// stateDetails is a folded view of a whole state, without managed fields.
export function stateDetails(revision, o) {
  const d = h('details', h('summary', 'the whole object'));
  d.dataset.revision = revision;
  d.addEventListener('toggle', () => {
    if (!d.open || d.children.length > 1) return;
    const { managedFields, ...metadata } = o.metadata;
    const text = yaml({ ...o, metadata }).replace(/^\n/, '');
    d.append(h('pre', text));
  });
  return d;
}

// breakable allows a line break before each field of a path.
const breakable = (path) => path.split(/(?=[.[])/).flatMap((part) => [part, h('wbr')]);

// changesTable shows changes with the managers of the changed fields.
export function changesTable(list, before, after) {
  if (!list.length) return h('p.dim', 'no visible changes');
  const max = 40;
  return h('div.changes', list.slice(0, max).map((c) => {
    const by = owners(c.to === undefined ? before : after, c.path);
    const names = [...new Set(by.map((m) => m.manager + (m.operation === 'Apply' ? ' (applied)' : '')))].join(', ');
    return h('div.change', h('span.path', { title: pathText(c.path) }, breakable(pathText(c.path))),
      h('span.values', c.from !== undefined && h('del', short(c.from)), c.to !== undefined && h('ins', short(c.to))),
      h('span.manager', { title: names && `managed by ${names}` }, names));
  }), list.length > max && h('p.dim', `and ${list.length - max} more`));
}

