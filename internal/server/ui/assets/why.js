// The server's explanation of an object's state: its reasons, or the events it waits for.
import { h } from './dom.js';
import { json } from './api.js';
import { listeners } from './store.js';
import { moment, kind, object, objectAddress, plural, shortUser } from './format.js';

const ask = (about, signal) => json(`/debug/why?${new URLSearchParams({ resource: about.resource, namespace: about.namespace || '', name: about.name })}`, 'application/json', signal);

// whyCard shows the explanation, and updates it after events of the objects in it.
export function whyCard(about) {
  const stop = new AbortController();
  const el = h('section.why', { 'aria-label': 'Why' }, h('p.dim', 'reading the explanation…'));
  let mentioned = new Set(); // resource/name of the objects in the explanation
  let due = 0;
  let before = '';

  async function read() {
    due = 0;
    try {
      const a = await ask(about, stop.signal);
      mentioned = new Set();
      names(a, mentioned);
      const text = JSON.stringify(a);
      if (text !== before) draw(a);
      before = text;
      if (a.waits) again(10000); // the state can also change without an event
    } catch (err) {
      if (err.name === 'AbortError') return;
      before = '';
      el.className = 'why';
      el.replaceChildren(h('p.dim', err.code === 404 ? 'It does not exist, and the trace has no event of it.'
        : err.code === 403 ? `You may not read the explanation: ${err.message}` : err.message));
      if (!err.code) again(3000);
    }
  }

  function again(ms) {
    if (!due && !stop.signal.aborted) due = setTimeout(read, ms);
  }

  function draw(a) {
    const open = new Map([...el.querySelectorAll('details')].map((d) => [d.dataset.of, d.open]));
    el.className = a.waits ? 'why waits' : 'why';
    el.replaceChildren(...explanation(a, true));
    for (const d of el.querySelectorAll('details')) if (open.has(d.dataset.of)) d.open = open.get(d.dataset.of);
  }

  const onEvents = (fresh) => {
    const concerns = (e) => mentioned.has(`${e.resource}/${object(e)}`) || (e.resource.startsWith('events') && [...mentioned].some((t) => t.endsWith(object(e).replace(/\.[0-9a-f]+$/, ''))));
    if (fresh.some(concerns)) {
      clearTimeout(due);
      due = 0;
      again(500);
    }
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

function names(a, into) {
  into.add(`${a.resource}/${object(a)}`);
  for (const p of a.parts || []) names(p, into);
}

// explanation shows the state, the reasons, the controllers and watchers that received the last
// changes, the Events, and the objects that it depends on.
function explanation(a, first) {
  const missing = /^(was deleted|does not exist)/.test(a.state);
  const head = h('p.state', h(a.waits ? 'b.badge.waits' : missing ? 'b.badge.gone' : 'b.badge', a.waits ? 'waits' : missing ? 'gone' : 'settled'), ' ',
    first ? [a.kind, ' '] : [h('a', { href: objectAddress(a) }, a.kind, ' ', h('b', object(a))), ' '], first && [h('b', object(a)), ' '], a.alike && h('span.dim', { title: a.alike.join(', ') }, `and ${a.alike.length} more like it `), a.state);
  return [
    head,
    first && a.causes && h('ul.causes', a.causes.map((c) => h('li', h('b', causeText(c, a)), c.next && h('p.next', h('span.dim', 'next: '), c.next)))),
    a.reasons && h('ul.reasons', a.reasons.map((r) => h('li', r))),
    a.saw && fold(a, 'saw', 'Controllers and watchers that received its last changes', a.waits && first,
      h('ol.saw', a.saw.map((s) => h('li', s.time ? moment(Date.parse(s.time)) : h('span.dim', 'not yet'), h('a.rev', { href: `#/events/${s.revision}` }, s.revision),
        h('b', shortUser(s.who)), h('span', s.key && h('span.dim', `${s.key}: `), linked(s.decision)))))),
    a.events && fold(a, 'events', 'Events', a.waits && (first || a.events.some((n) => n.type === 'Warning' && !(a.reasons || []).some((r) => r.includes(n.message)))),
      h('ol.saw', a.events.map((n) => h('li', moment(Date.parse(n.time)), h('span.dim', n.count > 1 ? `${n.count}×` : ''),
        h(n.type === 'Warning' ? 'b.bad' : 'b', n.reason), h('span', n.message, n.source && h('span.dim', ` · ${n.source}`)))))),
    a.parts && fold(a, 'parts', `${plural(a.parts.length, 'object')} that it depends on`, a.waits || first,
      h('ul.parts', a.parts.map((p) => h('li', explanation(p, false))))),
  ].filter(Boolean);
}

// causeText is a root cause with the objects that have it, unless that is the explained object itself.
function causeText(c, a) {
  if (c.objects.length > 1) return `${c.objects.length} ${c.kind.toLowerCase()}s: ${c.text}`;
  return c.kind === a.kind && c.objects[0] === object(a) ? c.text : `${c.kind} ${c.objects[0]}: ${c.text}`;
}

function fold(a, of, title, open, body) {
  const d = h('details', { open: Boolean(open) }, h('summary', title), body);
  d.dataset.of = `${a.resource}/${object(a)} ${of}`;
  return d;
}

// linked makes links of the revisions in "wrote 38 39".
function linked(decision) {
  const hit = /^wrote ([\d ]+)(.*)$/s.exec(decision);
  if (!hit) return decision;
  return ['wrote ', hit[1].trim().split(' ').flatMap((rev, i) => [i ? ', ' : '', h('a', { href: `#/events/${rev}` }, rev)]), hit[2]];
}
