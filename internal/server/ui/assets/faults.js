// The faults in force: what each does, what it has done, and how to add and remove them.
import { h } from './dom.js';
import { json, lives, request } from './api.js';
import { addFault } from './faultadd.js';
import { fairlead } from './kubectl.js';
import { confirm } from './dialog.js';
import { toolView } from './tools.js';
import { action, kind, moment, object, plural, shortUser } from './format.js';

const PATH = '/debug/faults';
const PERIOD = 1000; // ms between two looks
const READ = 2000; // events that are searched for effects
const SHOWN = 10; // effects of a fault

export const faultsView = () => toolView('faults', view);

function view() {
  const stop = new AbortController();
  const sum = h('span.count.dim', { role: 'status' }, 'reading…');
  const outcome = h('p.outcome', { role: 'status', hidden: true });
  const all = h('button', { onclick: () => remove() }, 'Remove all…');
  const cards = h('div.cards');
  const el = h('div.table.faults', h('div.bar', h('button.primary', { 'data-action': 'add', onclick: add }, 'Add a fault…'), all, sum), outcome, cards);
  let due = 0;
  let drawn = '';
  let struck = '';
  let effects = new Map(); // fault -> its effects, the newest first

  async function read() {
    clearTimeout(due);
    try {
      const { faults } = await json(PATH, 'application/json', stop.signal);
      const now = JSON.stringify(faults.map((f) => [f.id, f.struck]));
      if (now !== struck) {
        effects = await effectsOf(stop.signal);
        struck = now;
      }
      draw(faults);
    } catch (err) {
      if (err.name === 'AbortError') return;
      sum.textContent = err.message;
      if (err.code === 401) return;
    }
    clearTimeout(due);
    due = setTimeout(read, PERIOD);
  }

  function draw(faults) {
    const now = JSON.stringify([faults, [...effects]]);
    if (now === drawn) return;
    drawn = now;
    sum.textContent = faults.length ? `${plural(faults.length, 'fault')} in force` : 'no fault in force';
    all.hidden = faults.length < 2;
    const gone = [...effects.keys()].filter((id) => !faults.some((f) => f.id === id)).sort((a, b) => b - a);
    cards.replaceChildren(...faults.map(card), ...gone.map((id) => h('article.card', h('h2', `Fault ${id}, removed`), done(id))));
    if (!cards.childElementCount) cards.replaceChildren(h('p.empty.dim', 'A fault holds up a watch, fails a write or ends a lease, so that you can see what a controller does then.'));
  }

  function card(f) {
    return h('article.card', { 'data-fault': f.id },
      h('div.over', h('h2', `Fault ${f.id}: ${f.action}`), h('button', { 'aria-label': `Remove fault ${f.id}…`, onclick: () => remove(f) }, 'Remove…')),
      h('dl.facts', h('dt', 'of'), h('dd', selection(f)), how(f) && [h('dt', 'how'), h('dd', how(f))], h('dt', 'struck'), h('dd', f.struck.toLocaleString())),
      done(f.id));
  }

  // done lists what a fault has done, with links to the trace.
  function done(id) {
    const list = effects.get(id) || [];
    if (!list.length) return null;
    return [h('ul.strikes', { 'aria-label': `What fault ${id} has done` }, list.slice(0, SHOWN).map((e) => h('li', moment(Date.parse(e.at)), h('span', ` ${e.what}: `,
      e.revision ? h('a', { href: `#/events/${e.revision}` }, e.text) : e.text, by(e), e.causes && [', because of ', h('a', { href: `#/events/${e.causes[0]}` }, e.causes[0])])))),
    list.length > SHOWN && h('p.dim', `and ${plural(list.length - SHOWN, 'earlier effect')}`)];
  }

  function say(...parts) {
    outcome.hidden = false;
    outcome.replaceChildren(...parts);
  }

  async function add() {
    const f = await addFault();
    if (!f) return;
    say(`Fault ${f.id} is in force. What it does is listed here, and in the trace with each event.`);
    read();
  }

  async function remove(f) {
    const done = await confirm({
      title: f ? `Remove fault ${f.id}` : 'Remove all faults', label: 'Remove', tool: 'fairlead',
      content: h('p', 'Events that were held back are sent, in their order.'),
      command: () => fairlead('fault', 'remove', f ? f.id : '--all'),
      run: () => request(f ? `${PATH}/${f.id}` : PATH, { method: 'DELETE' }),
    });
    if (!done) return;
    say(f ? `Fault ${f.id} is removed.` : 'All faults are removed.');
    read();
  }

  read();
  return {
    el,
    destroy() {
      clearTimeout(due);
      stop.abort();
    },
  };
}

// effectsOf reads what faults have done to events, and to requests and watches without one, the newest first.
async function effectsOf(signal) {
  const found = [];
  for (const one of await lives({ faults: true, limit: READ }, signal)) {
    if (one.fault) found.push({ ...one.fault, text: subject(one.fault) });
    for (const f of one.faults || []) found.push({ ...f, revision: one.revision, text: `${kind(one.resource)} ${object(one)}, event ${one.revision}` });
  }
  found.sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  const of = new Map();
  for (const f of found) of.set(f.fault, [...(of.get(f.fault) || []), f]);
  return of;
}

// subject names the request or the watch that a fault has affected.
function subject({ stream, verb, subresource, resource, namespace, name }) {
  if (stream) return `the watch of ${kind(stream.resource) || 'everything'}`;
  return [action({ verb, subresource }), kind(resource), name ? object({ namespace, name }) : namespace && `in ${namespace}`].filter(Boolean).join(' ');
}

const by = ({ stream, user }) => (stream?.user || user ? `, ${shortUser(stream?.user || user)}` : '');

const selection = (f) => [f.verb, f.resource, f.namespace, f.name, f.client && `by ${f.client}`].filter(Boolean).join(' ') || 'all';

const how = (f) => [f.delay, f.code, f.times < 0 ? `from write ${f.nth} on` : f.times && `${f.times} from write ${f.nth} on`].filter(Boolean).join(', ');
