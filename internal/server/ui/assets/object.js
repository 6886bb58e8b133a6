// An object's timeline: its states, what changed from each to the next, and who did it.
import { h } from './dom.js';
import { find, heads, lives, resources, state } from './api.js';
import { events, known, listeners } from './store.js';
import { whyCard } from './why.js';
import { changes, owners, pathText, short, yaml } from './diff.js';
import { clock, deed, exact, kind, moment, object, objectAddress, plural, who } from './format.js';

const MOST = 60; // revisions that are shown at once
const FIRST = 1000; // objects of a kind that are offered
const AT_ONCE = 4; // kinds that are read

export function objectView() {
  const el = h('div.object');
  let stop = new AbortController();
  let now = '';
  let hear = null;
  let why = null;

  async function show(resource, namespace, name) {
    const address = [resource, namespace, name].join('/');
    if (now === address) return;
    now = address;
    stop.abort();
    stop = new AbortController();
    const { signal } = stop;
    listeners.delete(hear);
    why?.gone();
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
    const states = new Map(); // revision -> state or undefined; missing if not kept
    let due = 0;

    async function read() {
      due = 0;
      try {
        const r = await find(resource);
        const [all, now_] = await Promise.all([lives({ resource, namespace, name }, signal), state(r, namespace, name, 0, signal)]);
        if (now_) states.set(Number(now_.metadata.resourceVersion), now_);
        const some = all.slice(-MOST);
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
        show_(now_);
        draw(all, some, lost);
      } catch (err) {
        if (err.name !== 'AbortError') sum.replaceChildren(h('span.bad', err.message));
      }
    }

    // show_ shows the state that the object is in, which is there however long nothing happens.
    function show_(now_) {
      const revision = now_ ? now_.metadata.resourceVersion : '';
      if (present.dataset.revision === revision) return;
      const open = !present.dataset.revision || present.querySelector('details')?.open;
      present.dataset.revision = revision;
      if (!now_) {
        present.replaceChildren(h('h3', 'Now'), h('p.dim', 'It does not exist.'));
        return;
      }
      const all_ = whole(revision, now_);
      present.replaceChildren(h('h3', 'Now'), h('p.dim', `as written at revision ${revision}`), all_);
      all_.open = open && !known(Number(revision)); // what just happened is in the timeline
    }

    function draw(all, some, lost) {
      sum.textContent = all.length ? `${plural(all.length, 'revision')}${all.length > some.length ? `, the last ${some.length} of them here` : ''}` : 'No event of this object is kept.';
      const open = new Set([...line.querySelectorAll('details[open]')].map((d) => d.dataset.revision));
      line.replaceChildren(...some.map((e, i) => step(e, some[i - 1], all.length > some.length || i > 0 || e.type !== 'ADDED')).reverse());
      if (lost) line.append(h('li.lost.dim', `Earlier states, up to revision ${lost}, are not kept any more.`));
      for (const d of line.querySelectorAll('details')) d.open = open.has(d.dataset.revision);
    }

    function step(e, before, follows) {
      const has = states.has(e.revision);
      const to = states.get(e.revision);
      const follows_ = before && states.has(before.revision) && before.type !== 'DELETED';
      let body;
      if (e.type === 'DELETED') body = h('p.dim', 'deleted');
      else if (!has) body = null;
      else if (follows_) body = table(changes(states.get(before.revision) || {}, to || {}), states.get(before.revision), to);
      else body = h('p.dim', follows && e.type !== 'ADDED' ? 'the state before is not kept' : 'created');
      return h('li', { className: e.type },
        h('div.when', h('a.rev', { href: `#/events/${e.revision}` }, e.revision), moment(Date.parse(e.began))),
        h('div.what', h('p', h(`span.type.${e.type || 'UNKNOWN'}`), h('b', deed(e)), ` by ${who(e.user)}`, e.agent && h('span.dim', ` with ${e.agent}`),
          e.causes && h('span.dim', ', because of ', h('a', { href: `#/events/${e.causes[0]}` }, e.causes[0]), e.causes.length > 1 && ` and ${e.causes.length - 1} more`)),
        body, to && whole(e.revision, to)));
    }

    hear = (fresh) => {
      if (!due && fresh.some((e) => e.resource === resource && e.namespace === (namespace || '') && e.name === name)) due = setTimeout(read, 400);
    };
    listeners.add(hear);
    signal.addEventListener('abort', () => clearTimeout(due));
    await read();
  }

  const offered = (e) => e.name && e.resource !== 'events' && e.resource !== 'events.events.k8s.io' && e.resource !== 'leases.coordination.k8s.io';

  // choose offers the objects that something happened to, the latest first, and then all others
  // that there are.
  async function choose() {
    stop = new AbortController();
    const { signal } = stop;
    const found = new Map();
    const there = new Map();
    const more = new Set(); // kinds with more objects than are read
    let reading = true;
    for (const e of events) if (offered(e)) found.set(`${e.resource}/${object(e)}`, e);
    const search = h('input', { type: 'search', placeholder: 'deployments web', 'aria-label': 'Object', autocomplete: 'off', spellcheck: false });
    const list = h('ul.choice');
    let due = 0;
    const draw = () => {
      due = 0;
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const others = [...there].filter(([k]) => !found.has(k)).map(([, e]) => e);
      const hits = [...[...found.values()].reverse(), ...others].filter((e) => words.every((w) => e.text.includes(w)));
      const shown = hits.slice(0, 200);
      list.replaceChildren(...shown.map((e) => h('li', h('a', { href: objectAddress(e) }, h('span.kind', kind(e.resource)), ' ', h('span.name', object(e)), e.began && h('small', { title: exact(e.began) }, clock(e.began))))));
      if (hits.length > shown.length) list.append(h('li.dim', `and ${(hits.length - shown.length).toLocaleString()} more`));
      else if (!hits.length) list.append(h('li.dim', reading ? 'reading…' : 'No object matches.'));
      if (more.size) list.append(h('li.dim', `Only the first ${FIRST.toLocaleString()} ${[...more].map(kind).join(', ')} are here. Time travel has all.`));
    };

    async function read(r) {
      try {
        const l = await heads(r, FIRST, signal);
        for (const { metadata: m } of l.items || []) {
          const e = { resource: r.key, namespace: m.namespace || '', name: m.name };
          e.text = `${e.resource} ${object(e)}`.toLowerCase();
          there.set(`${e.resource}/${object(e)}`, e);
        }
        if (l.metadata.continue) more.add(r.key);
      } catch (err) {
        if (err.name === 'AbortError' || err.code === 401) throw err; // others may not be listed
      }
      due ||= setTimeout(draw, 300);
    }

    async function readAll() {
      try {
        const left = [...(await resources()).values()].filter((r) => offered({ resource: r.key, name: 'any' })).sort((a, b) => a.key.localeCompare(b.key));
        await Promise.all(Array.from({ length: AT_ONCE }, async () => { while (left.length) await read(left.shift()); }));
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
    hear = (fresh) => {
      for (const e of fresh) if (offered(e)) found.set(`${e.resource}/${object(e)}`, e);
      due ||= setTimeout(draw, 300);
    };
    listeners.add(hear);
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
    gone() {
      stop.abort();
      why?.gone();
      listeners.delete(hear);
    },
  };
}

// whole folds the state as it is.
export function whole(revision, object_) {
  const d = h('details', h('summary', 'the whole'));
  d.dataset.revision = revision;
  d.addEventListener('toggle', () => {
    if (!d.open || d.children.length > 1) return;
    const { managedFields, ...metadata } = object_.metadata;
    const text = yaml({ ...object_, metadata }).replace(/^\n/, '');
    d.append(h('pre', text));
  });
  return d;
}

// breakable lets a path go on in the next line before a field.
const breakable = (path) => path.split(/(?=[.[])/).flatMap((part) => [part, h('wbr')]);

// table shows changes with who owns what they made.
export function table(list, before, after) {
  if (!list.length) return h('p.dim', 'nothing that one sees');
  const most = 40;
  return h('div.changes', list.slice(0, most).map((c) => {
    const by = owners(c.to === undefined ? before : after, c.path);
    const names = [...new Set(by.map((m) => m.manager + (m.operation === 'Apply' ? ' (applied)' : '')))].join(', ');
    return h('div.change', h('span.path', { title: pathText(c.path) }, breakable(pathText(c.path))),
      h('span.values', c.from !== undefined && h('del', short(c.from)), c.to !== undefined && h('ins', short(c.to))),
      h('span.manager', { title: names && `managed by ${names}` }, names));
  }), list.length > most && h('p.dim', `and ${list.length - most} more`));
}

