// The dialog that adds a fault.
import { h } from './dom.js';
import { json, post, resources } from './api.js';
import { confirm, field } from './dialog.js';
import { groupKinds } from './kinds.js';
import { fairlead } from './kubectl.js';
import { shortUser } from './format.js';
import { facets } from './store.js';

// The actions, with their effect and the fields that they have besides client, kind and namespace.
const ACTIONS = {
  hold: ['Watches receive no events until the fault is removed.', []],
  delay: ['Each event of a watch is sent later.', ['delay']],
  reorder: ['A later event of another watch is sent first.', ['delay']],
  drop: ['Open watches are closed, once.', []],
  pause: ['No history is kept: watches that are behind get 410 Expired.', []],
  fail: ['Writes fail, without effect.', ['verb', 'name', 'nth', 'times', 'code']],
  slow: ['Writes wait before they take effect.', ['verb', 'name', 'delay', 'nth', 'times']],
  expire: ['The holders of Leases cannot renew them until others have held them. Without a selection, the leases of the store end, and with them the Events.', ['name', 'code']],
};
const NEEDS_DELAY = ['delay', 'slow'];
const VERBS = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const CODES = [403, 409, 429, 500, 503, 504];
const DURATION = /^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/;

// addFault returns the fault that was added, undefined if the user cancels.
export async function addFault() {
  const [kinds, users] = await Promise.all([resources(), watching()]);
  const text = (attributes) => h('input', { autocomplete: 'off', spellcheck: false, ...attributes });
  const number = (attributes) => h('input', { type: 'number', step: 1, placeholder: 1, ...attributes });
  const choice = (values) => h('select', values.map((v) => h('option', { value: v }, v || 'all')));
  const inputs = {
    action: h('select', { autofocus: true }, Object.keys(ACTIONS).map((a) => h('option', { value: a }, a))),
    client: text({ list: 'clients', placeholder: 'all' }),
    resource: h('select', h('option', { value: '' }, 'all'), groupKinds(kinds).map(([group, list]) => h('optgroup', { label: group }, list.map((r) => h('option', { value: r.key }, r.key))))),
    namespace: text({ list: 'namespaces', placeholder: 'all' }),
    name: text({ placeholder: 'all' }),
    verb: choice(['', ...VERBS]),
    delay: text({ placeholder: '1s' }),
    nth: number({ min: 1 }),
    times: number({ min: -1 }),
    code: choice(CODES),
  };
  const effect = h('p.dim', { id: 'effect' });
  inputs.action.setAttribute('aria-describedby', 'effect');
  const rows = {
    client: field('Client', inputs.client, 'a user, the last part of a user, or the beginning of a user agent'),
    resource: field('Kind', inputs.resource),
    namespace: field('Namespace', inputs.namespace),
    name: field('Name', inputs.name),
    verb: field('Verb', inputs.verb),
    delay: field('Delay', inputs.delay, 'such as 500ms or 2s'),
    nth: field('From write', inputs.nth, 'counted from now'),
    times: field('Writes', inputs.times, '-1 for all'),
    code: field('Status code', inputs.code),
  };
  const has = (name) => ['client', 'namespace'].includes(name) || (name === 'resource' ? inputs.action.value !== 'expire' : ACTIONS[inputs.action.value][1].includes(name));
  const value = (name) => (has(name) ? inputs[name].value.trim() : '');
  const selects = () => ['client', 'namespace', 'name'].some(value);
  const code = () => (inputs.action.value === 'expire' && !selects() ? '' : value('code'));

  function refresh() {
    for (const [name, row] of Object.entries(rows)) row.hidden = !has(name);
    effect.textContent = ACTIONS[inputs.action.value][0];
  }

  inputs.code.value = '500';
  inputs.action.addEventListener('input', refresh);
  refresh();
  return confirm({
    title: 'Add a fault', label: 'Add', tool: 'fairlead',
    content: [field('Action', inputs.action), effect, Object.values(rows),
      h('datalist', { id: 'clients' }, users.map((u) => h('option', { value: u }, shortUser(u)))), h('datalist', { id: 'namespaces' }, [...facets.namespaces.keys()].sort().map((n) => h('option', { value: n })))],
    valid: () => (value('delay') ? DURATION.test(value('delay')) : !NEEDS_DELAY.includes(inputs.action.value)) && ['nth', 'times'].every((n) => inputs[n].validity.valid) && value('times') !== '0',
    command: () => fairlead('fault', 'add', inputs.action.value, ...Object.entries({
      client: value('client'), kind: value('resource'), namespace: value('namespace'), name: value('name'), verb: value('verb'), delay: value('delay'), nth: value('nth'), times: value('times'), code: code() === '500' ? '' : code(),
    }).filter(([, v]) => v).map(([name, v]) => `--${name}=${v}`)),
    async run() {
      const f = { action: inputs.action.value };
      for (const name of ['client', 'resource', 'namespace', 'name', 'verb', 'delay']) if (value(name)) f[name] = value(name);
      for (const [name, v] of [['nth', value('nth')], ['times', value('times')], ['code', code()]]) if (v) f[name] = Number(v);
      return (await post('/debug/faults', f)).json();
    },
  });
}

// watching returns the users of open watches, and those of events.
async function watching() {
  const watchers = await json('/debug/watchers').catch(() => []);
  return [...new Set([...watchers.map((w) => w.user), ...facets.users.keys()])].filter(Boolean).sort();
}
