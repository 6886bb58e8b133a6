// The plot of durations over time: one point for each event, or for each tree of causes.
import { h } from './dom.js';
import { context, onTheme } from './canvas.js';
import { clockTicks, logarithmic } from './axis.js';
import { action, clock, kind, object, plural, shortUser, span } from './format.js';
import { CONFLICT } from './life.js';
import { outcomeOf, took, waits } from './filter.js';

const LEFT = 58;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 20;
const NEAR = 14; // px, from the pointer to a point
const DRAG = 5; // px, from which a press is a selection

// The classes of kinds that occur everywhere; the others get the free ones, the most frequent first.
const COMMON = { pods: 'c1', 'replicasets.apps': 'c2', 'deployments.apps': 'c3', nodes: 'c4', events: 'c5' };
const FREE = ['c6', 'c7', 'c8'];

const STATES = [['well', 'no trouble'], ['retried', CONFLICT], ['bad', 'failed'], ['late', 'not sent to all yet']];

// Scatter draws points. open(event) is called for a chosen point, select({from, to, min, max}) for a region, whose
// durations are undefined if it has the whole height; times are in ms since 1970, durations in ns.
export class Scatter {
  constructor({ open, select }) {
    Object.assign(this, { open, select, points: [], places: [], slots: new Map(), used: 0 });
    this.canvas = h('canvas', { tabIndex: 0, role: 'img' });
    this.tip = h('div.tip', { hidden: true, role: 'status' });
    this.region = h('div.region', { hidden: true });
    this.area = h('div.area', this.canvas, this.region, this.tip);
    this.legend = h('p.legend.points');
    this.el = h('div.scatter', this.area, this.legend);
    this.watcher = new ResizeObserver(() => this.later());
    this.watcher.observe(this.area);
    this.unwatch = onTheme(() => this.later());
    this.canvas.addEventListener('pointerdown', (e) => this.press(e));
    this.canvas.addEventListener('pointermove', (e) => this.move(e));
    this.canvas.addEventListener('pointerup', (e) => this.release(e));
    this.canvas.addEventListener('pointercancel', () => this.drop());
    this.canvas.addEventListener('pointerleave', () => { if (!this.pressed) this.hover(undefined); });
    this.canvas.addEventListener('blur', () => this.hover(undefined));
  }

  // set takes points, a range of time, of durations if the filter has one, and whether the points are trees.
  set(points, { from, to, min, max, trees, colour }) {
    Object.assign(this, { points, from, to: Math.max(to, from + 1), trees, colour });
    let [low, high] = [Infinity, 0];
    for (const e of points) {
      const ns = took(e, trees);
      if (ns < low) low = ns;
      if (ns > high) high = ns;
    }
    if (!points.length) [low, high] = [1e5, 1e8];
    this.low = min || 10 ** Math.floor(Math.log10(Math.max(low, 1e3)));
    this.high = Math.max(max || 10 ** Math.ceil(Math.log10(Math.max(high, 1e3))), this.low * 1.1);
    this.canvas.setAttribute('aria-label', `${plural(points.length, trees ? 'tree' : 'event')} by time and duration, from ${clock(from)} to ${clock(to)}, from ${span(this.low)} to ${span(this.high)}. Left and right move through the points, Enter opens one.`);
    this.later();
  }

  later() { this.due ||= requestAnimationFrame(() => { this.due = 0; this.draw(); }); }

  classOf(e) {
    const trouble = waits(e, this.trees) ? 'late' : { failed: 'bad', conflict: 'retried' }[outcomeOf(e, this.trees)];
    if (trouble) return trouble;
    if (this.colour !== 'kind') return 'well';
    return this.slots.get(e.resource) || 'c0';
  }

  // assign gives colours to kinds that have none. A kind keeps its colour.
  assign() {
    const counts = new Map();
    for (const e of this.points) if (!this.slots.has(e.resource)) counts.set(e.resource, (counts.get(e.resource) || 0) + 1);
    for (const [resource] of [...counts].sort(([, a], [, b]) => b - a)) {
      const name = COMMON[resource] || FREE[this.used];
      if (!COMMON[resource]) this.used++;
      if (name) this.slots.set(resource, name);
    }
  }

  x(at) { return LEFT + ((at - this.from) / (this.to - this.from)) * (this.width - LEFT - RIGHT); }

  y(ns) { return TOP + (1 - Math.log(Math.max(ns, this.low) / this.low) / Math.log(this.high / this.low)) * (this.height - TOP - BOTTOM); }

  draw() {
    this.width = this.area.clientWidth;
    this.height = this.area.clientHeight;
    if (!this.width || !this.points) return;
    const ctx = context(this.canvas, this.width, this.height);
    this.axes(ctx);
    this.assign();
    const classes = new Map(); // class -> places
    this.places = [];
    for (const e of this.points) {
      if (e.began < this.from || e.began > this.to) continue;
      const place = { e, x: this.x(e.began), y: this.y(took(e, this.trees)) };
      this.places.push(place);
      const name = this.classOf(e);
      if (!classes.has(name)) classes.set(name, []);
      classes.get(name).push(place);
    }
    this.drawLegend(classes);
    for (const name of [...classes.keys()].sort((a, b) => rank(a) - rank(b))) {
      ctx.fillStyle = ctx.strokeStyle = this.colours[name];
      ctx.globalAlpha = name === 'well' || name[0] === 'c' ? 0.75 : 1;
      for (const p of classes.get(name)) mark(ctx, name, p, this.trees ? Math.min(2 + Math.log2(1 + p.e.effects) / 2.5, 7) : 2);
    }
    ctx.globalAlpha = 1;
    if (this.hovered) {
      const p = this.places.find((one) => one.e === this.hovered);
      if (p) ring(ctx, p, this.colours.text);
    }
  }

  axes(ctx) {
    const { width, height } = this;
    const style = getComputedStyle(this.canvas);
    this.colours = { text: style.color };
    const [dim, line] = [style.getPropertyValue('accent-color'), style.borderTopColor];
    ctx.font = `11px ${style.fontFamily}`;
    ctx.lineWidth = 1;
    ctx.strokeStyle = line;
    ctx.fillStyle = dim;
    ctx.textAlign = 'right';
    ctx.textBaseline = 'middle';
    const values = logarithmic(this.low, this.high);
    const every = Math.ceil(values.length / Math.max(2, (height - TOP - BOTTOM) / 18));
    values.forEach((ns, i) => {
      const y = Math.round(this.y(ns)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(LEFT, y);
      ctx.lineTo(width - RIGHT, y);
      ctx.stroke();
      if (i % every === 0) ctx.fillText(span(ns).replace(/\.0+ /, ' '), LEFT - 6, y);
    });
    const { step, ticks } = clockTicks(this.from, this.to, Math.max(2, Math.floor((width - LEFT) / 110)));
    ctx.textAlign = 'center';
    ctx.textBaseline = 'alphabetic';
    for (const at of ticks) {
      const x = Math.round(this.x(at)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, TOP);
      ctx.lineTo(x, height - BOTTOM + 4);
      ctx.stroke();
      const text = step < 1000 ? clock(at).slice(3) : clock(at).slice(0, step < 60e3 ? 8 : 5);
      ctx.fillText(text, Math.min(Math.max(x, LEFT + 12), width - RIGHT - 22), height - 5);
    }
  }

  drawLegend(classes) {
    const names = [...[...this.slots].map(([resource, c]) => [c, kind(resource)]), ['c0', 'other kinds'], ...STATES].filter(([c]) => classes.has(c));
    const text = JSON.stringify(names);
    if (this.legendText !== text) {
      this.legendText = text;
      this.legend.replaceChildren(...names.map(([c, name]) => h('span', h(`i.dot.${c}`), name)));
    }
    for (const i of this.legend.querySelectorAll('i')) this.colours[i.classList[1]] = getComputedStyle(i).color;
  }

  // nearest is the point at a place of the canvas.
  nearest(x, y) {
    let found;
    let best = NEAR * NEAR;
    for (const p of this.places) {
      const d = (p.x - x) ** 2 + (p.y - y) ** 2;
      if (d <= best) [found, best] = [p, d];
    }
    return found;
  }

  at(e) {
    const box = this.canvas.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  }

  press(e) {
    if (e.button !== 0) return;
    this.pressed = this.at(e);
    this.canvas.setPointerCapture(e.pointerId);
  }

  move(e) {
    const now = this.at(e);
    if (!this.pressed) return this.hover(this.nearest(now.x, now.y));
    const box = this.box(now);
    this.region.hidden = !box;
    if (box) Object.assign(this.region.style, { left: `${box.x1}px`, width: `${box.x2 - box.x1}px`, top: `${box.y1}px`, height: `${box.y2 - box.y1}px` });
    return this.hover(undefined);
  }

  // box is the selected region; it has the whole height unless the pointer went up or down noticeably.
  box({ x, y }) {
    const { pressed, width, height } = this;
    if (Math.abs(x - pressed.x) < DRAG) return undefined;
    const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
    const [x1, x2] = [x, pressed.x].map((v) => clamp(v, LEFT, width - RIGHT)).sort((a, b) => a - b);
    const tall = Math.abs(y - pressed.y) < 4 * DRAG;
    const [y1, y2] = tall ? [TOP, height - BOTTOM] : [y, pressed.y].map((v) => clamp(v, TOP, height - BOTTOM)).sort((a, b) => a - b);
    return { x1, x2, y1, y2, tall };
  }

  release(e) {
    if (!this.pressed) return;
    const now = this.at(e);
    const box = this.box(now);
    this.drop();
    if (!box) {
      const p = this.nearest(now.x, now.y);
      if (p) this.open(p.e);
      return;
    }
    const time = (x) => this.from + ((x - LEFT) / (this.width - LEFT - RIGHT)) * (this.to - this.from);
    const length = (y) => this.low * (this.high / this.low) ** (1 - (y - TOP) / (this.height - TOP - BOTTOM));
    this.select({ from: time(box.x1), to: time(box.x2), ...(!box.tall && { min: length(box.y2), max: length(box.y1) }) });
  }

  drop() {
    this.pressed = undefined;
    this.region.hidden = true;
  }

  hover(place) {
    const e = place?.e;
    if (this.hovered === e) return;
    this.hovered = e;
    this.tip.hidden = !e;
    this.canvas.classList.toggle('over', Boolean(e));
    if (e) {
      const outcome = waits(e, this.trees) ? 'not sent to all yet' : { failed: 'a reconcile failed', conflict: CONFLICT }[outcomeOf(e, this.trees)];
      this.tip.replaceChildren(h('b', `${kind(e.resource)} ${object(e)}`), h('span', `${action(e)} by ${shortUser(e.user)}`),
        h('span', [span(took(e, this.trees)), e.effects && `${plural(e.effects, 'event')} caused`, outcome].filter(Boolean).join(' · ')), h('span.dim', `${clock(e.began)} · revision ${e.revision}`));
      const left = place.x > this.width / 2;
      Object.assign(this.tip.style, { left: left ? '' : `${place.x + 12}px`, right: left ? `${this.width - place.x + 12}px` : '', top: `${Math.max(0, Math.min(place.y - 20, this.height - 84))}px` });
    }
    this.later();
  }

  // keydown moves through the points in the order of time, and reports whether it has handled the key.
  keydown(e) {
    if (document.activeElement !== this.canvas) return false;
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[e.key];
    if (by) {
      const order = [...this.places].sort((a, b) => a.x - b.x);
      if (!order.length) return true;
      const i = order.findIndex((p) => p.e === this.hovered);
      this.hover(order[i < 0 ? (by > 0 ? 0 : order.length - 1) : Math.min(Math.max(i + by, 0), order.length - 1)]);
      return true;
    }
    if (e.key === 'Enter' && this.hovered) {
      this.open(this.hovered);
      return true;
    }
    return false;
  }

  destroy() {
    this.watcher.disconnect();
    this.unwatch();
    cancelAnimationFrame(this.due);
  }
}

const rank = (name) => ['retried', 'late', 'bad'].indexOf(name);

// mark draws a point; those with a trouble differ in form, too.
function mark(ctx, name, { x, y }, r) {
  ctx.beginPath();
  if (name === 'bad') {
    ctx.lineWidth = 2;
    ctx.moveTo(x - r - 2, y - r - 2);
    ctx.lineTo(x + r + 2, y + r + 2);
    ctx.moveTo(x + r + 2, y - r - 2);
    ctx.lineTo(x - r - 2, y + r + 2);
    ctx.stroke();
  } else if (name === 'retried') {
    ctx.moveTo(x, y - r - 2);
    ctx.lineTo(x + r + 2, y + r);
    ctx.lineTo(x - r - 2, y + r);
    ctx.fill();
  } else if (name === 'late') {
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x - r - 1, y - r - 1, 2 * r + 2, 2 * r + 2);
  } else if (r <= 2) ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
  else {
    ctx.arc(x, y, r, 0, 7);
    ctx.fill();
  }
}

function ring(ctx, { x, y }, colour) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.arc(x, y, 7, 0, 7);
  ctx.stroke();
}
