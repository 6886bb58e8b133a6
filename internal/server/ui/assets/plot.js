// Plots over real time: lines with axes, units, and the values under the pointer.
import { h, svg } from './dom.js';

const WIDTH = 480;
const HEIGHT = 130;
const LEFT = 46;
const BOTTOM = 18;
const TOP = 6;

// ceiling is the end of an axis that holds a value, and its number of steps.
export function ceiling(value) {
  if (!(value > 0)) return { end: 1, steps: 2 };
  const size = 10 ** Math.floor(Math.log10(value));
  const end = [1, 2, 4, 5, 10].map((n) => n * size).find((n) => n >= value);
  return { end, steps: end / size === 5 ? 5 : 4 };
}

const time = (at, seconds) => new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: seconds ? '2-digit' : undefined, hour12: false });

// Plot is a plot of lines that share a time axis. lines are {name, className}; format writes a value.
export class Plot {
  constructor({ title, lines, format }) {
    Object.assign(this, { title, lines, format });
    this.now = h('span.now');
    this.drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'plot', role: 'img', 'aria-label': title });
    this.el = h('article.card.plotted', h('h3', title, this.now), this.drawing,
      lines.length > 1 && h('p.legend', lines.map((l) => h('span', h(`i.${l.className}`), l.name))));
    this.drawing.addEventListener('pointermove', (e) => this.point(e));
    this.drawing.addEventListener('pointerleave', () => { this.hovered = undefined; this.show(); });
  }

  // set draws points: {at, values}, in the order of time, from one time to another.
  set(points, from, to) {
    Object.assign(this, { points, from, to });
    this.draw();
  }

  x(at) { return LEFT + ((at - this.from) / (this.to - this.from)) * (WIDTH - LEFT - 4); }

  draw() {
    const { points, from, to } = this;
    const { end, steps } = ceiling(Math.max(0, ...points.flatMap((p) => p.values.filter(Number.isFinite))));
    const y = (v) => TOP + (1 - v / end) * (HEIGHT - TOP - BOTTOM);
    const marks = [];
    for (let i = 0; i <= steps; i++) {
      const v = (end * i) / steps;
      marks.push(svg('line', { x1: LEFT, x2: WIDTH - 4, y1: y(v), y2: y(v), class: 'grid' }));
      if (points.length && (i % 2 === 0 || steps === 5)) marks.push(svg('text', { x: LEFT - 5, y: y(v) + 3.5, class: 'tick end' }, this.format(v)));
    }
    for (let i = 0; i <= 4; i++) {
      const at = from + ((to - from) * i) / 4;
      marks.push(svg('text', { x: this.x(at), y: HEIGHT - 4, class: `tick ${i === 0 ? 'start' : i === 4 ? 'end' : 'middle'}` }, time(at, to - from < 600e3)));
    }
    if (!points.length) marks.push(svg('text', { x: (LEFT + WIDTH) / 2, y: HEIGHT / 2, class: 'tick middle' }, 'no measurement yet'));
    const lines = this.lines.map((l, n) => {
      const known = points.filter((p) => Number.isFinite(p.values[n]));
      return svg('polyline', { class: `line ${l.className}`, points: known.map((p) => `${this.x(p.at).toFixed(1)},${y(p.values[n]).toFixed(1)}`).join(' ') });
    });
    this.cursor = svg('line', { y1: TOP, y2: HEIGHT - BOTTOM, class: 'cursor', visibility: 'hidden' });
    this.drawing.replaceChildren(...marks, ...lines, this.cursor);
    this.show();
  }

  point(e) {
    if (!this.points?.length) return;
    const box = this.drawing.getBoundingClientRect();
    const at = this.from + (((e.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - 4) * (this.to - this.from);
    this.hovered = this.points.reduce((best, p) => (Math.abs(p.at - at) < Math.abs(best.at - at) ? p : best)).at;
    this.show();
  }

  // show writes the values under the pointer, or the latest.
  show() {
    const p = (this.points || []).find((one) => one.at === this.hovered) || this.points?.at(-1);
    const values = p ? this.lines.map((l, n) => (Number.isFinite(p.values[n]) ? `${this.lines.length > 1 ? `${l.name} ` : ''}${this.format(p.values[n])}` : '')).filter(Boolean).join(' · ') : '';
    this.now.textContent = values && this.hovered ? `${values} at ${time(p.at, true)}` : values;
    if (!this.cursor) return;
    this.cursor.setAttribute('visibility', this.hovered ? 'visible' : 'hidden');
    if (this.hovered && p) {
      this.cursor.setAttribute('x1', this.x(p.at));
      this.cursor.setAttribute('x2', this.x(p.at));
    }
  }
}
