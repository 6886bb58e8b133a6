// The time axis of an object's states: a mark for each, or their density where they are many.
import { h, svg } from './dom.js';
import { clock, plural, shortUser } from './format.js';
import { byControlPlane, deed } from './past.js';

const HEIGHT = 92;
const BASE = 66; // of the marks
const MARK = 5; // px that a mark needs
const SIDE = 10;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((s) => s * 1000);

// tickText is a time at a tick: with the date at midnight, with seconds where ticks are close.
function tickText(at, step) {
  const d = new Date(at);
  if (step >= 86400e3 || (d.getHours() === 0 && d.getMinutes() === 0 && d.getSeconds() === 0)) return d.toLocaleDateString([], { month: 'short', day: 'numeric' });
  return clock(at).slice(0, step < 60e3 ? 8 : 5);
}

// statesAxis draws states. chosen() returns the two chosen revisions, {from, to}; choose(revision, asFrom) chooses one;
// zoomed(from, to) is told the times in view.
export function statesAxis({ chosen, choose, zoomed }) {
  let states = []; // with a time, the oldest first
  let view = null; // [from, to], null for all
  let width = 600;
  let drag = null;
  let cells = [];
  const told = h('p.told.dim', { role: 'status' });
  const drawing = svg('svg', { class: 'axis', role: 'img', 'aria-label': 'The states over time', tabindex: '0' });
  const all = h('button', { title: 'All states', onclick: () => zoom(null) }, 'All');
  const el = h('div.axisbox', drawing, h('div.axistools', told,
    h('button', { 'aria-label': 'Zoom in', title: 'Zoom in (+)', onclick: () => scale(0.5) }, '+'), h('button', { 'aria-label': 'Zoom out', title: 'Zoom out (-)', onclick: () => scale(2) }, '−'), all));

  const whole = () => {
    const from = states[0].at;
    const to = states.at(-1).at;
    const margin = Math.max(500, (to - from) * 0.02);
    return [from - margin, to + margin];
  };
  const range = () => view || whole();
  const x = (at) => SIDE + ((at - range()[0]) / (range()[1] - range()[0])) * (width - 2 * SIDE);
  const time = (px) => range()[0] + ((px - SIDE) / (width - 2 * SIDE)) * (range()[1] - range()[0]);

  function zoom(to) {
    if (!states.length) return;
    const [from, end] = whole();
    if (to) {
      const size = Math.max(200, Math.min(to[1] - to[0], end - from));
      const begin = Math.max(from, Math.min(to[0], end - size));
      view = size >= end - from ? null : [begin, begin + size];
    } else view = null;
    draw();
    zoomed(...range(), view !== null);
  }

  function scale(by, around) {
    if (!states.length) return;
    const [from, to] = range();
    const at = around ?? (from + to) / 2;
    zoom([at - (at - from) * by, at + (to - at) * by]);
  }

  function draw() {
    width = Math.max(280, drawing.clientWidth || width);
    drawing.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    drawing.setAttribute('height', HEIGHT);
    all.disabled = !view;
    if (!states.length) {
      drawing.replaceChildren();
      return;
    }
    const marks = [svg('line', { x1: 0, x2: width, y1: BASE + 0.5, y2: BASE + 0.5, class: 'grid' }), ...ticks()];
    group();
    const most = Math.max(...cells.map((c) => c.states.length));
    for (const c of cells) marks.push(...(c.states.length > 1 ? bar(c, most) : mark(c)));
    const { from, to } = chosen();
    for (const [name, revision] of [['from', from], ['to', to]]) {
      const s = states.find((one) => one.revision === revision);
      if (s && s.at >= range()[0] && s.at <= range()[1]) marks.push(svg('line', { x1: x(s.at), x2: x(s.at), y1: 12, y2: BASE, class: `chosen ${name}` }), svg('text', { x: x(s.at), y: 9, class: `tick middle ${name}` }, document.createTextNode(name)));
    }
    drawing.replaceChildren(...marks);
  }

  // group makes a cell of states that would touch.
  function group() {
    cells = [];
    for (const s of states) {
      const at = x(s.at);
      if (at < 0 || at > width) continue;
      const last = cells.at(-1);
      if (last && at - last.x < MARK) last.states.push(s);
      else cells.push({ x: at, states: [s] });
    }
  }

  function mark(c) {
    const [s] = c.states;
    const high = byControlPlane(s) ? 14 : 34;
    const kind = byControlPlane(s) ? 'machine' : 'person';
    return [svg('line', { x1: c.x, x2: c.x, y1: BASE - high, y2: BASE, class: `state ${s.type} ${kind}` }), kind === 'person' && svg('circle', { cx: c.x, cy: BASE - high, r: 4, class: `state ${s.type}` })].filter(Boolean);
  }

  // bar is the density of a cell; the part by people is on top.
  function bar(c, most) {
    const high = 12 + 34 * (c.states.length / most);
    const people = c.states.filter((s) => !byControlPlane(s));
    const out = [svg('rect', { x: c.x - 2, y: BASE - high, width: 4, height: high, class: 'state dense' })];
    if (people.length) out.push(svg('circle', { cx: c.x, cy: BASE - high - 2, r: 4, class: `state ${people.at(-1).type}` }));
    return out;
  }

  function ticks() {
    const [from, to] = range();
    const step = STEPS.find((s) => (to - from) / s <= width / 90) || 86400e3 * Math.ceil((to - from) / 86400e3 / (width / 90));
    const zone = new Date(from).getTimezoneOffset() * 60e3;
    const out = [];
    for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) {
      const edge = x(at) < 34 ? 'start' : x(at) > width - 34 ? 'end' : 'middle';
      out.push(svg('line', { x1: x(at), x2: x(at), y1: BASE, y2: BASE + 5, class: 'grid' }), svg('text', { x: x(at), y: HEIGHT - 8, class: `tick ${edge}` }, document.createTextNode(tickText(at, step))));
    }
    return out;
  }

  const position = (e) => (e.clientX - drawing.getBoundingClientRect().left) * (width / (drawing.clientWidth || width));
  const near = (px) => cells.reduce((best, c) => (!best || Math.abs(c.x - px) < Math.abs(best.x - px) ? c : best), null);

  function tell(c) {
    if (!c) {
      told.textContent = states.length > 1 ? 'Drag to zoom; click to compare from a state, Shift-click to one.' : '';
      return;
    }
    const s = c.states.at(-1);
    const estimated = Number.isFinite(s.since) ? '~' : '';
    told.textContent = c.states.length > 1 ? `${plural(c.states.length, 'state')}, revisions ${c.states[0].revision} to ${s.revision}, ${clock(c.states[0].at).slice(0, 8)} to ${clock(s.at).slice(0, 8)}`
      : `${s.revision} · ${estimated}${clock(s.at)} · ${deed(s)} by ${s.user ? shortUser(s.user) : (s.managers || []).join(', ') || 'unknown'}${s.fields ? ` · ${s.fields.slice(0, 3).join(', ')}` : ''}`;
  }

  drawing.addEventListener('pointerdown', (e) => {
    if (e.button) return;
    drag = { from: position(e), box: svg('rect', { y: 0, height: BASE, class: 'brush', width: 0, x: 0 }) };
    drawing.setPointerCapture(e.pointerId);
  });
  drawing.addEventListener('pointermove', (e) => {
    const at = position(e);
    if (!drag) {
      tell(near(at));
      return;
    }
    if (!drag.box.isConnected) drawing.append(drag.box);
    drag.box.setAttribute('x', Math.min(drag.from, at));
    drag.box.setAttribute('width', Math.abs(at - drag.from));
  });
  drawing.addEventListener('pointerup', (e) => {
    if (!drag) return;
    const [a, b] = [drag.from, position(e)].sort((one, other) => one - other);
    drag.box.remove();
    drag = null;
    if (b - a > 8) zoom([time(a), time(b)]);
    else {
      const c = near(b);
      if (c?.states.length > 1) zoom([c.states[0].at - 50, c.states.at(-1).at + 50]);
      else if (c) choose(c.states[0].revision, !e.shiftKey);
    }
  });
  drawing.addEventListener('pointercancel', () => { drag?.box.remove(); drag = null; });
  drawing.addEventListener('pointerleave', () => tell(null));
  drawing.addEventListener('dblclick', () => zoom(null));
  drawing.addEventListener('wheel', (e) => {
    if (!states.length || (!e.ctrlKey && !e.metaKey && Math.abs(e.deltaY) < Math.abs(e.deltaX))) return;
    e.preventDefault();
    scale(e.deltaY > 0 ? 1.25 : 0.8, time(position(e)));
  }, { passive: false });
  drawing.addEventListener('keydown', (e) => {
    const by = { '+': 0.5, '=': 0.5, '-': 2 }[e.key];
    if (!by) return;
    scale(by);
    e.preventDefault();
    e.stopPropagation();
  });
  const resized = new ResizeObserver(() => draw());
  resized.observe(drawing);

  return {
    el,
    draw,
    set(list) {
      states = list.filter((s) => Number.isFinite(s.at)).reverse();
      el.hidden = states.length < 2;
      tell(null);
      draw();
    },
    destroy: () => resized.disconnect(),
  };
}
