// The actions on an object that its kind has, its state allows, and the user may do.
import { h } from './dom.js';
import { lives } from './api.js';
import { mayAll } from './access.js';
import { rolloutActions } from './rollout.js';
import { nodeActions } from './node.js';
import { jobActions } from './job.js';
import { removal } from './remove.js';
import { ports } from './ports.js';
import { scale } from './scale.js';

// An action is {name, title(o), applies(o, r), needs(o, r, about), open(o, r, about)}. open returns undefined if the user
// cancels, or {text, trace, about, link, warnings}: what was done, the trace ID of the change, the object that it changed,
// and a link to what it made.
const all = [scale, ...rolloutActions, ...jobActions, ...nodeActions, ports, ...removal];

// actionsBar shows the actions of an object.
export function actionsBar(about) {
  const buttons = h('div.buttons', { role: 'toolbar', 'aria-label': 'Actions' });
  const outcome = h('div.outcome', { role: 'status', hidden: true });
  const el = h('div.actions', buttons, outcome);
  const made = new Map(); // name -> button
  let state = null;
  let round = 0;

  async function perform(action) {
    const [o, r] = state;
    const done = await action.open(o, r, about);
    if (done) report(done);
  }

  function button(action) {
    if (!made.has(action.name)) made.set(action.name, h('button', { className: action.danger ? 'ill' : '', 'data-action': action.name, onclick: () => perform(action) }));
    return made.get(action.name);
  }

  // report shows what was done, with a link to the trace of the event that it caused.
  async function report({ text, trace, about: of = about, link, warnings = [] }) {
    const way = h('span');
    outcome.hidden = false;
    outcome.replaceChildren(h('span', text, ' '), link || '', ' ', way, ...warnings.map((w) => h('p.retried', `Warning: ${w}`)),
      h('button.icon', { 'aria-label': 'Dismiss', onclick: () => { outcome.hidden = true; buttons.querySelector('button')?.focus(); } }, '×'));
    const revision = trace && await eventOf(of, trace);
    if (revision) way.replaceChildren(h('a', { href: `#/events/${revision}/tree` }, `what it caused: event ${revision}`));
    else if (trace) way.replaceChildren(h('span.dim', 'The trace has no event of it.'));
  }

  return {
    el,
    report,
    focus: () => buttons.querySelector('button')?.focus(),
    async show(o, r) {
      state = [o, r];
      const now = ++round;
      const fit = o ? all.filter((a) => a.applies(o, r)) : [];
      const allowed = await Promise.all(fit.map((a) => mayAll(a.needs(o, r, about)).catch(() => false)));
      if (now !== round) return;
      const shown = fit.filter((_, i) => allowed[i]).map((a) => {
        const b = button(a);
        b.textContent = a.title(o);
        return b;
      });
      if (shown.length !== buttons.childElementCount || shown.some((b, i) => buttons.children[i] !== b)) {
        const focused = buttons.contains(document.activeElement);
        buttons.replaceChildren(...shown);
        if (focused) (shown.includes(document.activeElement) ? document.activeElement : shown[0])?.focus();
      }
    },
  };
}

const ATTEMPTS = 6;

// eventOf finds the revision of the event that a change has caused: a moment after the change, since the event is
// published after it. It is undefined for a change that changed nothing.
async function eventOf({ resource, namespace, name }, trace) {
  for (let i = 0; i < ATTEMPTS; i++) {
    try {
      const found = (await lives({ resource, namespace: namespace || '', name })).find((e) => e.trace === trace);
      if (found) return found.revision;
    } catch { return undefined; /* the user may not read the trace */ }
    await new Promise((done) => { setTimeout(done, 150 * (i + 1)); });
  }
  return undefined;
}
