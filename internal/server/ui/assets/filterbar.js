// The controls of the events' filter: a bar with the usual ones, and a panel with the others.
import { h } from './dom.js';
import { facets } from './store.js';
import { clock, kind, shortUser, span } from './format.js';
import { EMPTY, OUTCOMES, PANEL, RANGES, parseDuration } from './filter.js';

const SORTS = { '': 'newest first', time: 'oldest first', '-took': 'slowest first', took: 'fastest first', '-effects': 'most caused first', effects: 'fewest caused first' };

// filterBar returns {bar, panel, show()}; changed() is called after the user has changed the filter. show writes the
// filter into the controls.
export function filterBar(filter, changed) {
  const input = (key, attributes) => h('input', { ...attributes, autocomplete: 'off', spellcheck: false, oninput: (e) => set(key, e.target.value) });
  const select = (key, label) => h('select', { 'aria-label': label, onchange: (e) => set(key, e.target.value) });
  const fields = {
    text: input('text', { type: 'search', placeholder: 'filter: web pods -events', 'aria-label': 'Filter' }),
    kind: select('kind', 'Kind'), namespace: select('namespace', 'Namespace'), user: select('user', 'User'), verb: select('verb', 'Verb'),
    controller: select('controller', 'Controller'), outcome: select('outcome', 'Result'), sort: select('sort', 'Order'),
    min: input('min', { placeholder: 'from 0 ms', 'aria-label': 'Minimum duration' }), max: input('max', { placeholder: 'no limit', 'aria-label': 'Maximum duration' }),
  };
  const facet = { kind: [facets.kinds, 'all kinds', kind], namespace: [facets.namespaces, 'all namespaces'], user: [facets.users, 'all users', shortUser], verb: [facets.verbs, 'all verbs'], controller: [facets.controllers, 'all controllers'] };
  const range = h('select.range', { 'aria-label': 'Time', onchange: () => setRange(range.value) });
  const heartbeats = h('input', { type: 'checkbox', onchange: () => set('heartbeats', heartbeats.checked ? '1' : '') });
  const trees = h('button', { title: 'Only events without a known cause, each with its whole tree', onclick: () => set('show', filter.show ? '' : 'trees') }, 'Root causes');
  const more = h('button', { 'aria-expanded': 'false', onclick: () => toggle() }, 'Filters');
  const label = (text, field) => h('label', text, field);
  const panel = h('div.bar.panel', { hidden: true }, ['user', 'verb', 'controller'].map((key) => fields[key]), label('result', fields.outcome),
    label('duration', fields.min), label('to', fields.max), label('order', fields.sort),
    h('button', { onclick: () => { Object.assign(filter, EMPTY, { show: filter.show }); changed(); show(); } }, 'Clear'));
  const bar = [fields.text, fields.kind, fields.namespace, range, trees, more, h('label.check', heartbeats, 'heartbeats', { title: 'Leases and the heartbeats of nodes' })];

  options(fields.outcome, Object.keys(OUTCOMES), 'any', (v) => OUTCOMES[v]);
  fields.sort.replaceChildren(...Object.entries(SORTS).map(([value, text]) => h('option', { value }, text)));

  function set(key, value) {
    filter[key] = value;
    changed();
    show();
  }

  function setRange(value) {
    if (value === 'custom') return;
    Object.assign(filter, { last: value, from: '', to: '' });
    changed();
    show();
  }

  function toggle(on = panel.hidden) {
    panel.hidden = !on;
    more.setAttribute('aria-expanded', on);
  }

  function show() {
    for (const [key, [all, title, write]] of Object.entries(facet)) {
      const names = [...all.keys()].sort();
      if (filter[key] && !all.has(filter[key])) names.push(filter[key]);
      options(fields[key], names, title, write);
    }
    const custom = filter.from || filter.to;
    const ranges = [['', 'all kept'], ...Object.keys(RANGES).map((r) => [r, `last ${r.replace(/^1m$/, 'minute').replace(/m$/, ' minutes')}`]),
      ...(custom ? [['custom', `${filter.from ? clock(Number(filter.from)).slice(0, 10) : ''} – ${filter.to ? clock(Number(filter.to)).slice(0, 10) : ''}`]] : [])];
    if (range.dataset.ranges !== JSON.stringify(ranges)) {
      range.dataset.ranges = JSON.stringify(ranges);
      range.replaceChildren(...ranges.map(([value, text]) => h('option', { value }, text)));
    }
    range.value = custom ? 'custom' : filter.last;
    for (const [key, field] of Object.entries(fields)) if (field !== document.activeElement || field.value !== filter[key]) field.value = filter[key];
    for (const key of ['min', 'max']) fields[key].setAttribute('aria-invalid', Boolean(filter[key]) && Number.isNaN(parseDuration(filter[key])));
    heartbeats.checked = Boolean(filter.heartbeats);
    trees.setAttribute('aria-pressed', filter.show === 'trees');
    const n = PANEL.filter((key) => filter[key]).length;
    more.textContent = n ? `Filters (${n})` : 'Filters';
  }

  return { bar, panel, show, toggle };
}

function options(select, names, title, write = (v) => v) {
  const text = names.join('\n');
  if (select.dataset.names === text) return;
  select.dataset.names = text;
  const { value } = select;
  select.replaceChildren(h('option', { value: '' }, title), ...names.map((n) => h('option', { value: n }, write(n))));
  select.value = value;
}

// durationText is a duration of a region of the plot, as the filter has it.
export const durationText = (ns) => span(ns).replace(' ', '');
