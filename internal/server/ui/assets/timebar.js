// The bar that chooses a revision of the history: the present, or any that the trace has an event of.
import { h } from './dom.js';
import { events, indexAt, listeners } from './store.js';
import { clock, exact, kind } from './format.js';

const newest = () => (events.length ? events[events.length - 1].revision : 1);
const oldest = () => (events.length ? events[0].revision : 1);

// timeBar calls go(revision), 0 for the present. Its steps go to the events that concerns(event) is true of.
export function timeBar(go, concerns) {
  let revision = 0;
  const number = h('input.number', { inputMode: 'numeric', 'aria-label': 'Revision', autocomplete: 'off', onchange: () => go(Math.max(0, parseInt(number.value, 10) || 0)) });
  const slider = h('input', { type: 'range', 'aria-label': 'Revision in the history', step: 1, oninput: () => go(Number(slider.value) >= newest() ? 0 : Number(slider.value)) });
  const when = h('span.dim.when');
  const present = h('button', { title: 'The present', onclick: () => go(0) }, 'Now');
  const el = h('div.bar.timebar', h('button', { title: 'The event before (h)', 'aria-label': 'The event before', onclick: () => step(-1) }, '‹'), slider,
    h('button', { title: 'The next event (l)', 'aria-label': 'The next event', onclick: () => step(1) }, '›'), when, h('label', 'at', number), present);

  // step goes to the next or previous event of the shown objects, and after the last to the present.
  function step(by) {
    let i = revision ? indexAt(revision) : events.length;
    if (by > 0 && events[i]?.revision !== revision) i--;
    for (i += by; i >= 0 && i < events.length; i += by) {
      if (concerns(events[i])) {
        go(events[i].revision);
        return;
      }
    }
    if (by > 0) go(0);
  }

  function show(at = revision) {
    revision = at;
    slider.min = oldest();
    slider.max = newest();
    slider.value = revision || newest();
    if (document.activeElement !== number) number.value = revision || '';
    number.placeholder = `now (${newest()})`;
    present.setAttribute('aria-pressed', String(!revision));
    const e = revision && events[Math.min(indexAt(revision + 1) - 1, events.length - 1)];
    when.title = e ? exact(e.began) : '';
    when.textContent = e ? `${clock(e.began)} · ${kind(e.resource)} ${e.name}` : '';
    el.classList.toggle('past', Boolean(revision));
  }

  const onEvents = () => show();
  listeners.add(onEvents);
  return { el, show, step, destroy: () => listeners.delete(onEvents) };
}
