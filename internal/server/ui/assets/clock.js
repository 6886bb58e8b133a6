// The virtual clock of the cluster: its time, and forms that advance it.
import { h } from './dom.js';
import { resources } from './api.js';
import { copyButton } from './copy.js';
import { errorText, field } from './dialog.js';
import { groupKinds } from './kinds.js';
import { fairlead, target } from './kubectl.js';
import { milliseconds } from './goduration.js';
import { facets } from './store.js';
import { tell } from './time.js';
import { toolView } from './tools.js';
import { advance, parseUntil, run, state } from './until.js';
import { exact } from './format.js';

const PERIOD = 1000; // ms between two looks
const QUICK = ['1m', '10m', '1h', '24h'];

// The advance in progress, or the outcome of the last one. It goes on while other views are shown.
const now = { busy: null, outcome: [], changed: () => {} };

export const clockView = () => toolView('clock', view);

function view() {
  const stop = new AbortController();
  const time = h('p.clock', 'reading…');
  const ahead = h('p.dim');
  const outcome = h('div.outcome', { role: 'status', hidden: true });
  const halt = h('button', { onclick: () => now.busy?.abort() }, 'Stop the clock');
  const forms = [byForm(), untilForm()];
  const el = h('div.clocks', h('section', { 'aria-label': 'Time' }, time, ahead), h('div.buttons', halt), outcome, h('div.cards', forms.map((f) => f.el)));
  let due = 0;

  async function read() {
    clearTimeout(due);
    try {
      show(Date.parse((await state(stop.signal)).time));
    } catch (err) {
      if (err.name === 'AbortError') return;
      ahead.textContent = err.message;
      if (err.code === 401) return;
    }
    clearTimeout(due);
    due = setTimeout(read, PERIOD);
  }

  function show(at) {
    tell(at);
    time.textContent = exact(at);
    const s = Math.round((at - Date.now()) / 1000);
    ahead.textContent = `The cluster’s time. It stands still until it is advanced, and is ${s >= 0 ? `${long(s)} ahead of` : `${long(-s)} behind`} the browser’s.`;
  }

  function draw() {
    halt.hidden = !now.busy;
    for (const f of forms) f.busy(Boolean(now.busy));
    outcome.hidden = !now.outcome.length;
    outcome.replaceChildren(...now.outcome);
  }

  now.changed = () => { draw(); read(); };
  draw();
  read();
  return {
    el,
    destroy() {
      now.changed = () => {};
      clearTimeout(due);
      stop.abort();
    },
  };
}

// long writes seconds as a duration: 2 h 5 min 3 s.
function long(s) {
  const parts = [[Math.floor(s / 3600), 'h'], [Math.floor(s / 60) % 60, 'min'], [s % 60, 's']].filter(([n]) => n);
  return parts.map(([n, unit]) => `${n.toLocaleString()} ${unit}`).join(' ') || '0 s';
}

// go does work(signal), which advances the clock, and tells its outcome.
async function go(work) {
  now.busy = new AbortController();
  now.outcome = ['The clock is moving…'];
  now.changed();
  try {
    const from = Date.parse((await state()).time);
    const stopped = await work(now.busy.signal).then(() => false, (err) => {
      if (err.name === 'AbortError') return true;
      throw err;
    });
    const to = Date.parse((await state()).time);
    now.outcome = [`${stopped ? 'Stopped: ' : ''}${long(Math.round((to - from) / 1000))} passed. `, h('a', { href: `#/events?${new URLSearchParams({ from: Math.floor(from), to: Math.ceil(to) })}` }, 'What happened in this time')];
  } catch (err) {
    now.outcome = errorText(err);
  }
  now.busy = null;
  now.changed();
}

// form is a card with fields, the equal command, and a button that advances the clock.
function form(title, label, fields, { command, valid, work }) {
  const code = h('code.command');
  const act = h('button.primary', { type: 'submit' }, label);
  const el = h('form.card', { 'aria-label': title, onsubmit: (e) => { e.preventDefault(); if (!act.disabled) go(work); } }, h('h2', title), fields,
    h('div.equivalent', h('span.dim', 'the same by fairlead'), h('div', code, copyButton(() => code.textContent))), h('div.choice', act));
  let busy = false;

  function refresh() {
    code.textContent = command();
    act.disabled = busy || !valid();
  }

  el.addEventListener('input', refresh);
  refresh();
  return { el, refresh, busy(is) { busy = is; refresh(); } };
}

const text = (attributes) => h('input', { autocomplete: 'off', spellcheck: false, ...attributes });

function byForm() {
  const by = text({ value: '10m', required: true });
  const quick = h('div.buttons', { role: 'group', 'aria-label': 'Durations' }, QUICK.map((d) => h('button', { type: 'button', onclick: () => { by.value = d; made.refresh(); } }, d)));
  const made = form('Advance by a duration', 'Advance', [field('Duration', by, 'such as 90s or 24h'), quick], {
    command: () => fairlead('clock', 'advance', by.value.trim()),
    valid: () => milliseconds(by.value.trim()) > 0,
    work: (signal) => advance(milliseconds(by.value.trim()), signal),
  });
  return made;
}

// The conditions: their names, and whether they have the fields what and value.
const CONDITIONS = { condition: 'has the condition', create: 'exists', delete: 'is gone', jsonpath: 'has the field' };

function untilForm() {
  let kinds = new Map();
  const kind = h('select');
  const namespace = text({ value: 'default', list: 'clock-namespaces' });
  const name = text({ required: true });
  const condition = h('select', { onchange: () => { what.value = condition.value === 'condition' ? 'Complete' : ''; made.refresh(); } }, Object.entries(CONDITIONS).map(([value, title]) => h('option', { value }, title)));
  const what = text({ value: 'Complete', required: true });
  const value = text({});
  const limit = text({ value: '24h', required: true });
  const rows = { namespace: field('Namespace', namespace), what: field('Condition', what), value: field('Value', value, 'empty for any') };
  const r = () => kinds.get(kind.value);
  const about = () => ({ namespace: r()?.namespaced ? namespace.value.trim() : '', name: name.value.trim() });

  function until() {
    if (condition.value === 'create' || condition.value === 'delete') return condition.value;
    const [of, is] = [what.value.trim(), value.value.trim()];
    return `${condition.value}=${of}${is && !(condition.value === 'condition' && is === 'True') ? `=${is}` : ''}`;
  }

  function fit() {
    const path = condition.value === 'jsonpath';
    rows.namespace.hidden = !r()?.namespaced;
    rows.what.hidden = rows.value.hidden = !path && condition.value !== 'condition';
    rows.what.firstChild.textContent = path ? 'Field' : 'Condition';
    what.placeholder = path ? '{.status.succeeded}' : 'Complete';
    value.placeholder = path ? 'any' : 'True';
    rows.value.lastChild.hidden = !path;
  }

  const made = form('Advance until an object meets a condition', 'Run', [field('Kind', kind), rows.namespace, field('Name', name), field('Until it', condition), rows.what, rows.value,
    field('Limit', limit, 'fails if this much time has passed'), h('datalist', { id: 'clock-namespaces' }, [...facets.namespaces.keys()].sort().map((n) => h('option', { value: n })))], {
    command: () => fairlead('clock', 'run', `--until=${until()}`, r() && `${target(r(), name.value.trim() || 'NAME')}`, about().namespace && '-n', about().namespace, limit.value.trim() !== '24h' && `--limit=${limit.value.trim()}`),
    valid: () => Boolean(r() && name.value.trim() && (!r().namespaced || namespace.value.trim()) && parseUntil(until()) && milliseconds(limit.value.trim()) > 0),
    work: (signal) => run(r(), about(), parseUntil(until()), milliseconds(limit.value.trim()), signal),
  });
  made.el.addEventListener('input', fit, true);
  fit();
  resources().then((all) => {
    kinds = all;
    kind.replaceChildren(...groupKinds(all).map(([group, list]) => h('optgroup', { label: group }, list.map((one) => h('option', { value: one.key }, one.key)))));
    kind.value = 'jobs.batch';
    fit();
    made.refresh();
  }, () => {});
  return made;
}
