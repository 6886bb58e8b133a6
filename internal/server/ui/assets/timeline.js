// An object's history: its states over time, the changes from each to the next, and the ways to compare, blame and undo.
import { h } from './dom.js';
import { address } from './address.js';
import { find } from './api.js';
import { may } from './access.js';
import { listeners } from './store.js';
import { statesAxis } from './statesaxis.js';
import { blameView } from './blame.js';
import { changes } from './diff.js';
import { changesTable } from './changes.js';
import { deed, pastOf } from './past.js';
import { undo } from './undo.js';
import { yamlView } from './yamlview.js';
import { clock, exact, plural, shortUser } from './format.js';

const STEPS = 30; // states listed at once
const MODES = [['', 'Changes'], ['compare', 'Compare'], ['blame', 'Blame']];

export function timeline(about) {
  const stop = new AbortController();
  const past = pastOf(about, stop.signal);
  const chosen = { mode: '', from: 0, to: 0 }; // in the address; 0: the present, and the state before the last change
  let resource;
  let mayWrite = {}; // update, create
  let inView = null; // times of the axis
  let shownSteps = STEPS;
  let due = 0;
  let last = '';
  const sum = h('p.dim', 'reading…');
  const times = statesAxis({ chosen: sides, choose, zoomed: (from, to, part) => { inView = part ? [from, to] : null; shownSteps = STEPS; draw(); } });
  const modes = h('div.modes', { role: 'group', 'aria-label': 'View' }, MODES.map(([name, title]) => h('button', { 'data-mode': name, onclick: () => turn({ mode: name }) }, title)));
  const body = h('div');
  const el = h('section', { 'aria-label': 'History' }, sum, times.el, modes, body);

  async function read() {
    due = 0;
    try {
      resource ||= await find(about.resource);
      if (await past.read() || !last) {
        mayWrite = Object.fromEntries(await Promise.all(['update', 'create'].map(async (verb) => [verb, resource.verbs.includes(verb) && await may(verb, resource, about).catch(() => false)])));
        times.set(past.list);
        last = '';
        draw();
      }
    } catch (err) {
      if (err.name !== 'AbortError') sum.replaceChildren(h(err.code === 404 ? 'span.dim' : 'span.bad', err.message));
    }
  }

  // sides are the two revisions to compare.
  function sides() {
    if (chosen.mode !== 'compare') return {};
    const to = chosen.to || past.list[0]?.revision;
    const before = past.list.find((s) => s.revision < to);
    return { from: chosen.from || before?.revision, to };
  }

  function choose(revision, asFrom) {
    turn({ mode: 'compare', [asFrom ? 'from' : 'to']: revision });
  }

  // turn changes the view, and the address with it.
  function turn(to) {
    Object.assign(chosen, to);
    const { query } = address();
    for (const [key, value] of [['show', chosen.mode], ['from', chosen.from], ['to', chosen.to]]) {
      if (value && (key === 'show' || chosen.mode === 'compare')) query.set(key, value); else query.delete(key);
    }
    history.replaceState(history.state, '', `${location.hash.split('?')[0]}?${query}`);
    draw();
  }

  function draw() {
    const { list } = past;
    const first = list.at(-1);
    sum.textContent = !list.length ? 'No state is kept.' : [plural(list.length, 'state'), Number.isFinite(first.at) && `since ${exact(first.at).slice(0, 19)}`,
      past.withheld ? `earlier ones are not shown: ${past.withheld}` : past.compacted ? `states before revision ${past.compacted} were compacted` : past.more && 'there are earlier ones'].filter(Boolean).join(' · ');
    for (const b of modes.children) b.setAttribute('aria-pressed', String(b.dataset.mode === chosen.mode));
    modes.hidden = !list.length;
    times.draw();
    const now = JSON.stringify([chosen, list[0]?.revision, inView, shownSteps]);
    if (now === last) return;
    last = now;
    if (chosen.mode === 'compare') body.replaceChildren(compared());
    else if (chosen.mode === 'blame') body.replaceChildren(blameView(past));
    else steps();
  }

  // steps lists the states in view. Steps that are there stay.
  function steps() {
    const some = past.list.filter((s) => !inView || (s.at >= inView[0] && s.at <= inView[1]));
    const old = new Map([...body.querySelectorAll('.timeline > li[data-revision]')].map((li) => [Number(li.dataset.revision), li]));
    const shown = some.slice(0, shownSteps);
    const line = h('ol.timeline', shown.map((s) => old.get(s.revision) || step(s)));
    if (some.length > shown.length) line.append(h('li.lost', h('button', { onclick: () => { shownSteps += STEPS; draw(); } }, `${plural(some.length - shown.length, 'earlier state')}`)));
    else if (past.compacted && some.at(-1) === past.list.at(-1)) line.append(h('li.lost.dim', `States before revision ${past.compacted} have been compacted.`));
    body.replaceChildren(line);
  }

  function step(s) {
    const changed = h('div');
    const li = h('li', { className: s.type }, h('div.when', h('a.rev', { href: `#/events/${s.revision}` }, s.revision), momentOf(s)),
      h('div.what', h('p', h(`span.type.${s.type}`), h('b', deed(s)), by(s), s.agent && h('span.dim', ` with ${s.agent}`),
        s.causes && h('span.dim', ', because of ', h('a', { href: `#/events/${s.causes[0]}` }, s.causes[0]), s.causes.length > 1 && ` and ${s.causes.length - 1} more`)),
      changed, s.type !== 'DELETED' && !s.error && h('div.stepactions', whole(s), undoButton(s.revision))));
    li.dataset.revision = s.revision;
    fill(s, changed);
    return li;
  }

  async function fill(s, into) {
    const before = past.list[past.list.indexOf(s) + 1];
    if (s.error) into.replaceChildren(h('p.bad', s.error));
    else if (s.type !== 'MODIFIED') into.replaceChildren(h('p.dim', s.type === 'DELETED' ? 'deleted' : 'created'));
    else if (!before) into.replaceChildren(h('p.dim', 'the previous state has been compacted'));
    else {
      try {
        const to = await past.load(s.revision);
        const from = await past.load(before.revision);
        into.replaceChildren(changesTable(changes(from || {}, to || {}), from, to));
      } catch (err) {
        if (err.name !== 'AbortError') into.replaceChildren(h('p.bad', err.message));
      }
    }
  }

  // whole is a folded view of a whole state.
  function whole(s) {
    const d = h('details', h('summary', 'the whole object'));
    d.addEventListener('toggle', async () => {
      if (d.open && d.children.length === 1) d.append(yamlView(await past.load(s.revision)).el);
    });
    return d;
  }

  // undoButton is missing for the present state, and for a user who may not write the object.
  function undoButton(revision) {
    const [newest] = past.list;
    const exists = newest.type !== 'DELETED';
    if (!(exists ? mayWrite.update : mayWrite.create) || revision === newest.revision) return null;
    return h('button.undo', {
      onclick: async () => {
        const [current, state] = [await past.load(past.list[0].revision), await past.load(revision)];
        if (state) undo(resource, about, { revision, state, current }, () => read());
      },
    }, 'Undo to this state…');
  }

  function compared() {
    const { from, to } = sides();
    const select = (name, revision) => h('select', { 'aria-label': name, onchange: (e) => turn({ [name]: Number(e.target.value) }) },
      past.list.map((s) => h('option', { value: s.revision, selected: s.revision === revision }, `${s.revision} · ${Number.isFinite(s.at) ? clock(s.at).slice(0, 8) : ''} · ${deed(s)}`)));
    const out = h('div', h('p.dim', 'reading…'));
    const bar = h('div.sides', h('label', 'From ', select('from', from)), h('label', 'to ', select('to', to)),
      h('button', { onclick: () => turn({ from: to, to: from }) }, 'Swap'), undoButton(from));
    (async () => {
      const [a, b] = [from && await past.load(from), await past.load(to)];
      if (!from) out.replaceChildren(h('p.dim', 'There is only one state.'));
      else out.replaceChildren(changesTable(changes(a || {}, b || {}), a, b));
    })().catch((err) => { if (err.name !== 'AbortError') out.replaceChildren(h('p.bad', err.message)); });
    return h('div.compared', bar, out);
  }

  const onEvents = (fresh) => {
    if (!due && fresh.some((e) => e.resource === about.resource && e.namespace === (about.namespace || '') && e.name === about.name)) due = setTimeout(read, 400);
  };
  listeners.add(onEvents);
  function inherit() {
    const { query } = address();
    Object.assign(chosen, { mode: MODES.some(([m]) => m === query.get('show')) ? query.get('show') : '', from: Number(query.get('from')) || 0, to: Number(query.get('to')) || 0 });
  }

  inherit();
  read();
  return {
    el,
    // update takes the view from the address.
    update() {
      inherit();
      if (last) draw();
    },
    // show reads again when the object has another revision, for users who may not see the events.
    show(o) {
      if (!due && Number(o?.metadata.resourceVersion || 0) > (past.list[0]?.revision || 0)) due = setTimeout(read, 400);
    },
    destroy() {
      clearTimeout(due);
      stop.abort();
      times.destroy();
      listeners.delete(onEvents);
    },
  };
}

// momentOf is a state's time; one that is not exact has a tilde.
function momentOf(s) {
  if (!Number.isFinite(s.at)) return h('span.dim', 'time unknown');
  const about = Number.isFinite(s.since);
  return h('time', { title: about ? `after ${exact(s.since)}, by ${exact(s.at)}` : exact(s.at), dateTime: new Date(s.at).toISOString() }, about ? `~${clock(s.at).slice(0, 8)}` : clock(s.at));
}

function by(s) {
  if (s.recorded) return ` by ${shortUser(s.user)}`;
  return s.managers ? [' by ', h('span', { title: 'the field managers; the trace does not have the write any more' }, s.managers.join(', '))] : '';
}
