// Why an object is as it is, or what it still waits for, as the server explains it.
import { h } from './dom.js';
import { json } from './api.js';
import { listeners } from './store.js';
import { moment, kind, object, objectAddress, plural, who } from './format.js';

const ask = (about, signal) => json(`/debug/why?${new URLSearchParams({ resource: about.resource, namespace: about.namespace || '', name: about.name })}`, 'application/json', signal);

// whyCard explains, and again when something has happened to what it tells of.
export function whyCard(about) {
  const stop = new AbortController();
  const el = h('section.why', { 'aria-label': 'Why' }, h('p.dim', 'asking why…'));
  let told = new Set(); // names of what it tells of
  let due = 0;
  let before = '';

  async function read() {
    due = 0;
    try {
      const a = await ask(about, stop.signal);
      told = new Set();
      names(a, told);
      const text = JSON.stringify(a);
      if (text !== before) draw(a);
      before = text;
      if (a.waits) again(10000); // what it waits for may be nothing that happens
    } catch (err) {
      if (err.name === 'AbortError') return;
      before = '';
      el.className = 'why';
      el.replaceChildren(h('p.dim', err.code === 404 ? 'Nothing is known of it: it is not there, and no event of it is kept.'
        : err.code === 403 ? `You may not ask why: ${err.message}` : err.message));
      if (!err.code) again(3000);
    }
  }

  function again(ms) {
    if (!due && !stop.signal.aborted) due = setTimeout(read, ms);
  }

  function draw(a) {
    const open = new Map([...el.querySelectorAll('details')].map((d) => [d.dataset.of, d.open]));
    el.className = a.waits ? 'why waits' : 'why';
    el.replaceChildren(...answer(a, true));
    for (const d of el.querySelectorAll('details')) if (open.has(d.dataset.of)) d.open = open.get(d.dataset.of);
  }

  const hear = (fresh) => {
    const about_ = (e) => told.has(`${e.resource}/${object(e)}`) || (e.resource.startsWith('events') && [...told].some((t) => t.endsWith(object(e).replace(/\.[0-9a-f]+$/, ''))));
    if (fresh.some(about_)) {
      clearTimeout(due);
      due = 0;
      again(500);
    }
  };
  listeners.add(hear);
  read();
  return {
    el,
    gone() {
      clearTimeout(due);
      stop.abort();
      listeners.delete(hear);
    },
  };
}

function names(a, into) {
  into.add(`${a.resource}/${object(a)}`);
  for (const p of a.parts || []) names(p, into);
}

// answer shows what it is and why, who saw its changes, what was noted, and what it stands on.
function answer(a, first) {
  const gone = /^(was deleted|is not there)/.test(a.state);
  const head = h('p.state', h(a.waits ? 'b.badge.waits' : gone ? 'b.badge.gone' : 'b.badge', a.waits ? 'waits' : gone ? 'gone' : 'settled'), ' ',
    first ? [a.kind, ' '] : [h('a', { href: objectAddress(a) }, a.kind, ' ', h('b', object(a))), ' '], first && [h('b', object(a)), ' '], a.state);
  return [
    head,
    a.reasons && h('ul.reasons', a.reasons.map((r) => h('li', r))),
    a.saw && fold(a, 'saw', `Who saw its last changes, and what they decided`, a.waits && first,
      h('ol.saw', a.saw.map((s) => h('li', s.time ? moment(Date.parse(s.time)) : h('span.dim', 'not yet'), h('a.rev', { href: `#/events/${s.revision}` }, s.revision),
        h('b', who(s.who)), h('span', s.key && h('span.dim', `${s.key}: `), linked(s.decision)))))),
    a.events && fold(a, 'events', `What was noted about it`, a.waits && (first || a.events.some((n) => n.type === 'Warning' && !(a.reasons || []).some((r) => r.includes(n.message)))),
      h('ol.saw', a.events.map((n) => h('li', moment(Date.parse(n.time)), h('span.dim', n.count > 1 ? `${n.count}×` : ''),
        h(n.type === 'Warning' ? 'b.bad' : 'b', n.reason), h('span', n.message, n.source && h('span.dim', ` · ${n.source}`)))))),
    a.parts && fold(a, 'parts', `${plural(a.parts.length, 'object')} that it stands on`, a.waits || first,
      h('ul.parts', a.parts.map((p) => h('li', answer(p, false))))),
  ].filter(Boolean);
}

function fold(a, of, title, open, body) {
  const d = h('details', { open: Boolean(open) }, h('summary', title), body);
  d.dataset.of = `${a.resource}/${object(a)} ${of}`;
  return d;
}

// linked makes links of the revisions that a decision wrote: "wrote 38 39".
function linked(decision) {
  const hit = /^wrote ([\d ]+)(.*)$/s.exec(decision);
  if (!hit) return decision;
  return ['wrote ', hit[1].trim().split(' ').flatMap((rev, i) => [i ? ', ' : '', h('a', { href: `#/events/${rev}` }, rev)]), hit[2]];
}
