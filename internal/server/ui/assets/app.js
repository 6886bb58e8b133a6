// The page: it shows the view of the address, and handles the keys that all views share.
import { h } from './dom.js';
import { post } from './api.js';
import { address } from './address.js';
import { follow, retry, state, events } from './store.js';
import { overviewView } from './overview.js';
import { sample } from './samples.js';
import { openSearch } from './search.js';
import { eventsView } from './events.js';
import { compareView } from './compare.js';
import { browseView } from './browse.js';
import { mapView } from './map.js';
import { objectView } from './object.js';
import { watchersView } from './watchers.js';
import { queuesView } from './queues.js';
import { faultsView } from './faults.js';
import { clockView } from './clock.js';
import { offered, session } from './tools.js';

// A view is a function that returns {el, update(args), keydown(e), title(), destroy()}; args is the rest
// of the address.
const views = { overview: overviewView, browse: browseView, map: mapView, object: objectView, events: eventsView, compare: compareView, watchers: watchersView, queues: queuesView, faults: faultsView, clock: clockView };
const tabs = [['overview', 'Overview'], ['browse', 'Browse'], ['map', 'Map'], ['events', 'Events'], ['watchers', 'Watchers'], ['queues', 'Queues']];
const tabOf = { object: 'browse', compare: 'events' }; // a view without a tab of its own

const $ = (id) => document.getElementById(id);
let shown = { name: '', view: null };
let ended = false; // the session
const last = {}; // view -> its last address

function route() {
  if (ended) return;
  const { parts } = address();
  const name = views[parts[0]] ? parts[0] : 'overview';
  const args = parts.slice(1);
  if (shown.name !== name) {
    shown.view?.destroy();
    const view = views[name](args);
    $('view').replaceChildren(view.el);
    shown = { name, view };
  }
  shown.view.update(args);
  last[name] = location.hash;
  mark();
}

// mark shows in the tabs and in the titles which view is shown.
function mark() {
  const { name } = shown;
  const tab = tabOf[name] || name;
  for (const a of $('tabs').children) {
    if (a.dataset.view === tab) a.setAttribute('aria-current', 'page'); else a.removeAttribute('aria-current');
    a.href = (a.dataset.view !== name && last[a.dataset.view]) || `#/${a.dataset.view}`;
  }
  const of = shown.view.title?.();
  const title = tabs.find(([n]) => n === tab)?.[1] || tab;
  $('heading').textContent = of ? `${title}: ${of}` : title;
  document.title = `${of ? `${of} · ` : ''}${title} · Fairlead`;
}

function pulse() {
  const p = $('pulse');
  p.className = `pulse ${state.live}`;
  p.textContent = { live: 'live', begin: 'reading…', again: 'reconnecting…', refused: 'no events' }[state.live];
  p.title = state.error || `${events.length.toLocaleString()} events here`;
  trouble();
}

// trouble shows a connection problem that has lasted for a moment.
let since = 0;
let tick = 0;
function trouble() {
  const box = $('trouble');
  clearTimeout(tick);
  const disconnected = !ended && (state.live === 'again' || state.live === 'refused');
  since = disconnected ? since || Date.now() : 0;
  if (!disconnected) {
    box.hidden = true;
    return;
  }
  if (state.live === 'refused') box.replaceChildren(h('span', h('b', 'No events: '), state.error));
  else if (Date.now() - since > 1200) {
    const left = Math.max(0, Math.ceil((state.next - Date.now()) / 1000));
    box.replaceChildren(h('span', h('b', 'The server does not answer. '), 'The page shows the last known state. ', left ? `Next attempt in ${left} s.` : 'Reconnecting…'),
      h('button', { onclick: retry }, 'Now'));
  }
  box.hidden = !box.childNodes.length;
  if (state.live === 'again') tick = setTimeout(trouble, 500);
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('fairlead.theme', root.dataset.theme); } catch { /* for this page only */ }
}

const keys = [
  ['Ctrl-K', 'search everything'], ['1 … 9', 'the views'], ['j k ↓ ↑', 'next, previous'], ['g G', 'first, last'], ['Enter', 'open'], ['Esc', 'back'],
  ['/', 'filter'], ['p', 'pause or resume the log'], ['w', 'an event’s hops'], ['c', 'the tree of causes'], ['f x s', 'fold equal subtrees, critical path, statistics'], ['+ - 0 [ ]', 'zoom and move in time'], ['d', 'compare the tree with the one before'], ['o y', 'the object: its explanation and its timeline'],
  ['h l ← →', 'fold, unfold; previous, next revision'], ['← → ↑ ↓', 'on a map, along the relations'],
  ['a e', 'the actions on the object; edit its YAML'], ['t', 'dark or light'], ['?', 'this help'],
];

function help() {
  const box = $('keys');
  if (box.open) return box.close();
  box.replaceChildren(h('h2', 'Keys'), h('dl', keys.map(([k, meaning]) => [h('dt', k.split(' ').map((one) => (one === '…' ? ' … ' : h('kbd', one)))), h('dd', meaning)])),
    h('p.dim', 'The filter shows events with all words and without any -word: ', h('code', 'pods -events slow')),
    h('form', { method: 'dialog' }, h('button', 'Close')));
  box.showModal();
  return undefined;
}

function keydown(e) {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k' && !ended) {
    e.preventDefault();
    openSearch($('search'), tabs);
    return;
  }
  if ($('search').open || document.querySelector('dialog.action[open]')) return;
  if (e.ctrlKey || e.metaKey || e.altKey || $('keys').open) {
    if (e.key === '?' && $('keys').open) $('keys').close();
    return;
  }
  const typing = e.target.closest('input, select, textarea');
  if (typing) {
    if (e.key === 'Escape' || (e.key === 'Enter' && e.target.type === 'search')) {
      typing.blur();
      shown.view.el.querySelector('.list')?.focus();
      e.preventDefault();
    }
    return;
  }
  if (e.key === 'Enter' && e.target.closest('a, button, summary')) return;
  if (shown.view.keydown?.(e)) {
    e.preventDefault();
    return;
  }
  if (e.key >= '1' && e.key <= String(tabs.length)) location.hash = $('tabs').children[e.key - 1].getAttribute('href');
  else if (e.key === '?') help();
  else if (e.key === 't') theme();
  else if (e.key === '/') {
    const field = shown.view.el.querySelector('input[type=search], input');
    if (!field) return;
    field.focus();
    field.select();
  } else return;
  e.preventDefault();
}

function sessionOver() {
  if (ended) return;
  ended = true;
  shown.view?.destroy();
  shown = { name: '', view: { el: $('view') } };
  state.live = 'refused';
  pulse();
  $('pulse').textContent = 'logged out';
  document.title = 'Logged out · Fairlead';
  $('heading').textContent = 'Logged out';
  $('view').replaceChildren(h('div.empty', h('h2', 'The session is over'), h('p', h('code', 'fairlead ui'), ' prints a link to a new one.'), h('a.button', { href: '/ui/login' }, 'Log in')));
}

function showTabs() {
  $('tabs').replaceChildren(...tabs.map(([name, title], i) => {
    const a = h('a', { href: `#/${name}`, title: `${title} (${i + 1})` }, title);
    a.dataset.view = name;
    return a;
  }));
}

showTabs();
$('find').addEventListener('click', () => { if (!ended) openSearch($('search'), tabs); });
$('theme').addEventListener('click', theme);
$('help').addEventListener('click', help);
$('leave').addEventListener('click', async () => {
  try {
    await post('/ui/logout');
  } catch (err) {
    if (err.code !== 401) {
      $('leave').title = `Not logged out: ${err.message}`;
      return;
    }
  }
  location.replace('/ui/login');
});
addEventListener('hashchange', route);
addEventListener('keydown', keydown);
addEventListener('live', pulse);
addEventListener('session-over', sessionOver);
session.then((s) => { $('leave').title = `Log out ${s.user}`; }, () => {});
pulse();
route();
follow();
sample();
offered().then((tools) => {
  if (!tools.length || ended) return;
  tabs.push(...tools);
  showTabs();
  mark();
});
