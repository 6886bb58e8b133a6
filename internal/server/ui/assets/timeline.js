// An object's timeline: its states, the changes from each to the next, and their users.
import { h } from './dom.js';
import { find, lives, state } from './api.js';
import { listeners } from './store.js';
import { changes } from './diff.js';
import { changesTable } from './changes.js';
import { yamlView } from './yamlview.js';
import { action, moment, plural, shortUser } from './format.js';

const MAX_REVISIONS = 60; // shown at once

export function timeline(about) {
  const { resource, namespace, name } = about;
  const stop = new AbortController();
  const { signal } = stop;
  const sum = h('p.dim', 'reading…');
  const line = h('ol.timeline');
  const el = h('section', { 'aria-label': 'History' }, sum, line);
  const states = new Map(); // revision -> state, undefined if deleted; no entry if compacted
  let due = 0;

  async function read() {
    due = 0;
    try {
      const r = await find(resource);
      const [all, current] = await Promise.all([lives({ resource, namespace: namespace || '', name }, signal), state(r, namespace, name, 0, signal)]);
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
      draw(all, some, lost);
    } catch (err) {
      if (err.name !== 'AbortError') sum.replaceChildren(h('span.bad', err.message));
    }
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
      body, to && whole(e.revision, to)));
  }

  const onEvents = (fresh) => {
    if (!due && fresh.some((e) => e.resource === resource && e.namespace === (namespace || '') && e.name === name)) due = setTimeout(read, 400);
  };
  listeners.add(onEvents);
  read();
  return {
    el,
    destroy() {
      clearTimeout(due);
      stop.abort();
      listeners.delete(onEvents);
    },
  };
}

// whole is a folded view of a whole state.
function whole(revision, o) {
  const d = h('details', h('summary', 'the whole object'));
  d.dataset.revision = revision;
  d.addEventListener('toggle', () => { if (d.open && d.children.length === 1) d.append(yamlView(o).el); });
  return d;
}
