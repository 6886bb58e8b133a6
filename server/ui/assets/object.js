// An object's timeline: its states, what changed from each to the next, and who did it.
import { h } from './dom.js';
import { find, lives, state } from './api.js';
import { events, listeners } from './store.js';
import { whyCard } from './why.js';
import { changes, owners, pathText, short, yaml } from './diff.js';
import { clock, deed, exact, kind, moment, object, objectAddress, plural, who } from './format.js';

const MOST = 60; // revisions that are shown at once

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
    why = whyCard(about);
    el.replaceChildren(h('header.about', h('h2', kind(resource), ' ', h('b', object(about))),
      sum, h('p', h('a', { href: '#/object' }, 'another object'), ' · ', h('a', { href: `#/travel/${encodeURIComponent(resource)}/${namespace || '-'}/now` }, `all ${kind(resource)} through time`), ' · ', h('a', { href: `#/events?${new URLSearchParams({ text: name, kind: resource, namespace })}` }, 'its events'))),
      why.el, h('h3', 'Timeline'), line);
    const states = new Map(); // revision -> state or undefined; missing if not kept
    let due = 0;

    async function read() {
      due = 0;
      try {
        const r = await find(resource);
        const all = await lives({ resource, namespace, name }, signal);
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
        draw(all, some, lost);
      } catch (err) {
        if (err.name !== 'AbortError') sum.replaceChildren(h('span.bad', err.message));
      }
    }

    function draw(all, some, lost) {
      sum.textContent = all.length ? `${plural(all.length, 'revision')}${all.length > some.length ? `, the last ${some.length} of them here` : ''}` : 'No event of this object is kept.';
      const open = new Set([...line.querySelectorAll('details[open]')].map((d) => d.dataset.revision));
      line.replaceChildren(...some.map((e, i) => step(e, some[i - 1], all.length > some.length || i > 0 || e.type !== 'ADDED')).reverse());
      if (lost) line.append(h('li.dim', `States up to revision ${lost} are not kept any more.`));
      for (const d of line.querySelectorAll('details')) d.open = open.has(d.dataset.revision);
    }

    function step(e, before, follows) {
      const has = states.has(e.revision);
      const to = states.get(e.revision);
      const known = before && states.has(before.revision) && before.type !== 'DELETED';
      let body;
      if (e.type === 'DELETED') body = h('p.dim', 'deleted');
      else if (!has) body = null;
      else if (known) body = table(changes(states.get(before.revision) || {}, to || {}), states.get(before.revision), to);
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

  const offered = (e) => e.name && e.resource !== 'events' && e.resource !== 'leases.coordination.k8s.io';

  // choose offers the objects that something happened to.
  async function choose() {
    const found = new Map();
    for (const e of events) if (offered(e)) found.set(`${e.resource}/${object(e)}`, e);
    const search = h('input', { type: 'search', placeholder: 'deployments web', 'aria-label': 'Object', autocomplete: 'off', spellcheck: false });
    const list = h('ul.choice');
    let due = 0;
    const draw = () => {
      due = 0;
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const hits = [...found.values()].reverse().filter((e) => words.every((w) => e.text.includes(w))).slice(0, 200);
      list.replaceChildren(...hits.map((e) => h('li', h('a', { href: objectAddress(e) }, h('span.kind', kind(e.resource)), ' ', h('span.name', object(e)), h('small', { title: exact(e.began) }, clock(e.began))))));
      if (!hits.length && !found.size) list.append(h('li.dim', 'Nothing has happened yet to any object that is kept. Time travel has all there are.'));
      else if (!hits.length) list.append(h('li.dim', 'None, among those that something has happened to. Time travel has all.'));
    };
    search.addEventListener('input', draw);
    search.addEventListener('keydown', (e) => { if (e.key === 'Enter') list.querySelector('a')?.click(); });
    el.replaceChildren(h('header.about', h('h2', 'Which object?'), search), list);
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

