// The rows of a tree of causes over time: a window that is zoomed and moved, an axis, bars, and the critical path.
import { h } from './dom.js';
import { linear, isWhole, pan, whole, within, zoom } from './axis.js';
import { List } from './list.js';
import { isGroup } from './fold.js';
import { CONFLICT } from './life.js';
import { steps } from './critical.js';
import { action, kind, nanoseconds, object, plural, shortUser, span } from './format.js';

const DRAG = 5; // px
const WHEEL = 1.0015; // the zoom by a pixel of the wheel
const ms = (n) => span(n * 1e6);

// Waterfall shows rows. open(node), toggle(row) and zoomed(window) are called for the user's actions; isOpen(row)
// reports whether a row's effects are shown.
export class Waterfall {
  constructor({ open, toggle, isOpen, zoomed }) {
    Object.assign(this, { toggle, isOpen, zoomed, rows: [], critical: new Map(), total: 1, window: whole(1) });
    this.axis = h('span.scale', { 'aria-hidden': 'true' });
    this.heads = h('div.row.heads', h('span.dim', 'drag to zoom'), this.axis, h('span.at', 'at'));
    this.list = new List({
      label: 'The effects of the event', tree: true, count: () => this.rows.length, draw: (i) => this.draw(this.rows[i]), key: (i) => key(this.rows[i]),
      open: (i) => (isGroup(this.rows[i]) ? toggle(this.rows[i]) : open(this.rows[i])),
    });
    this.brush = h('div.brush', { hidden: true });
    this.el = h('div.falls', this.heads, this.list.el, this.brush);
    this.el.addEventListener('pointerdown', (e) => this.press(e));
    this.el.addEventListener('pointermove', (e) => this.drag(e));
    this.el.addEventListener('pointerup', (e) => this.release(e));
    this.el.addEventListener('pointercancel', () => this.drop());
    this.el.addEventListener('click', (e) => { if (this.dragged) e.stopPropagation(); this.dragged = false; }, true);
    this.el.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
  }

  // set shows rows of a tree; critical is the critical path, empty to show none.
  set(rows, tree, critical) {
    const full = isWhole(this.window, this.total);
    this.rows = rows;
    this.total = tree.total;
    this.critical = new Map(critical.map((link) => [link.node, link]));
    this.window = full ? whole(tree.total) : within(this.window, tree.total);
    this.redraw();
  }

  look(window) {
    this.window = within(window, this.total);
    this.later();
  }

  later() { this.due ||= requestAnimationFrame(() => { this.due = 0; this.redraw(); }); }

  redraw() {
    const { from, to } = this.window;
    const ticks = linear(from, to, this.axis.clientWidth < 260 ? 2 : 5);
    this.axis.replaceChildren(...ticks.map((at) => h('span', { style: { left: `${this.part(at) * 100}%` } }, at ? ms(at) : '0')));
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : to - from;
    const style = this.el.style;
    const first = ticks.length ? this.part(ticks[0]) : 0;
    style.setProperty('--grid-left', `${first * 100}%`);
    // The size is a part of the width that is left beside the first line.
    style.setProperty('--grid-step', `${(step / (to - from) / Math.max(1 - first, 1e-9)) * 100}%`);
    this.list.redraw();
    this.zoomed(this.window);
  }

  part(at) { return (at - this.window.from) / (this.window.to - this.window.from); }

  bar(from, to, as) {
    const [a, b] = [Math.max(this.part(from), 0), Math.min(this.part(to), 1)];
    if (a > 1 || b < 0) return null;
    return h(as, { style: { left: `min(${a * 100}%, 100% - 3px)`, width: `max(3px, ${(b - a) * 100}%)` } });
  }

  draw(row) {
    return isGroup(row) ? this.group(row) : this.node(row);
  }

  label(row, hasKids, ...content) {
    const open = this.isOpen(row);
    const turn = h('span.turn', { 'aria-hidden': 'true', hidden: !hasKids }, open ? '▾' : '▸');
    turn.addEventListener('click', (e) => { e.stopPropagation(); this.toggle(row); });
    return h('span.label', { style: { paddingLeft: `${Math.min(row.depth, 14) * (innerWidth > 820 ? 14 : 7)}px` } }, turn, ...content);
  }

  node(n) {
    const link = this.critical.get(n);
    const title = `written in ${ms(n.own)}; received by all in ${ms(n.took)}`;
    return h(link ? 'div.row.node.critical' : 'div.row.node', { id: `t${n.revision}`, ...level(n, n.kids.length, this.isOpen(n)) },
      this.label(n, n.kids.length, h(`span.type.${n.type || 'UNKNOWN'}`), h('span.kind', kind(n.resource)), h('span.name', { title: `${object(n)}: ${action(n)} by ${shortUser(n.user)}` }, n.name), trouble(n), h('small', `${action(n)} · ${shortUser(n.user)}`)),
      h('span.track', { title }, this.bar(n.from, n.to, 'i.rest'), this.bar(n.from, n.from + n.own, 'i.own'),
        link && link.parts.map(([step, from, to]) => { const i = this.bar(from, to, `i.crit.${step}`); if (i) i.title = `critical path: ${ms(to - from)} ${steps[step]}`; return i; })),
      h('span.at', { title: nanoseconds(n.from * 1e6) }, n.from ? ms(n.from) : '0'));
  }

  group(g) {
    const critical = g.members.some((n) => this.critical.has(n));
    const { took } = g;
    const text = `${g.members.length} equal: ${ms(took.min)} to ${ms(took.max)}, median ${ms(took.median)}, p95 ${ms(took.p95)}; ${plural(g.events, 'event')} in all`;
    return h(critical ? 'div.row.node.group.critical' : 'div.row.node.group', { id: `t${g.key}`, ...level(g, true, this.isOpen(g)) },
      this.label(g, true, h('b', `${g.members.length.toLocaleString()} ×`), h('span.name', { title: text }, chain(g)), g.conflicts > 0 && h('span.trouble.retried', { title: `${g.conflicts} of their events: ${CONFLICT}` }, `↻ ${g.conflicts}`), h('small', `median ${ms(took.median)} · p95 ${ms(took.p95)} · ${plural(g.events, 'event')}`)),
      h('span.track', { title: text }, this.bar(g.from, g.to, 'i.rest'), this.density(g)),
      h('span.at', { title: `${text}; the first at ${ms(g.from)}` }, `${ms(took.min)} – ${ms(took.max)}`));
  }

  // density marks the beginnings of the members.
  density(g) {
    const marks = new Set();
    const out = [];
    for (const n of g.members) {
      const at = Math.round(this.part(n.from) * 100);
      if (at < 0 || at > 100 || marks.has(at)) continue;
      marks.add(at);
      out.push(h('i.tick', { style: { left: `${at}%` } }));
    }
    return out;
  }

  // place is the time under a pointer, or undefined beside the tracks.
  place(e) {
    const box = this.axis.getBoundingClientRect();
    const part = (e.clientX - box.left) / box.width;
    return part < -0.01 || part > 1.01 ? undefined : this.window.from + Math.min(Math.max(part, 0), 1) * (this.window.to - this.window.from);
  }

  press(e) {
    if (e.button !== 0 || e.pointerType === 'touch' || this.place(e) === undefined || e.target.closest('.turn')) return;
    this.pressed = { x: e.clientX, at: this.place(e) };
  }

  drag(e) {
    if (!this.pressed || Math.abs(e.clientX - this.pressed.x) < DRAG) return;
    if (!this.dragged) this.el.setPointerCapture(e.pointerId);
    this.dragged = true;
    const [axis, own] = [this.axis.getBoundingClientRect(), this.el.getBoundingClientRect()];
    const [a, b] = [e.clientX, this.pressed.x].map((x) => Math.min(Math.max(x, axis.left), axis.right)).sort((x, y) => x - y);
    this.brush.hidden = false;
    Object.assign(this.brush.style, { left: `${a - own.left}px`, width: `${b - a}px` });
    this.pressed.range = [a, b].map((x) => this.place({ clientX: x }));
  }

  release() {
    const range = this.dragged && this.pressed?.range;
    this.drop();
    if (range && range[1] > range[0]) this.look({ from: range[0], to: range[1] });
    setTimeout(() => { this.dragged = false; }); // after the click that ends the drag
  }

  drop() {
    this.pressed = undefined;
    this.brush.hidden = true;
  }

  // wheel zooms with Ctrl, or over the axis, and moves with Shift.
  wheel(e) {
    const at = this.place(e);
    if (at === undefined) return;
    if (e.ctrlKey || e.metaKey || e.target.closest('.heads')) this.look(zoom(this.window, this.total, at, WHEEL ** (e.deltaY * (e.deltaMode ? 16 : 1))));
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.look(pan(this.window, this.total, (e.deltaX || e.deltaY) / 800));
    else return;
    e.preventDefault();
  }

  // keydown reports whether it has handled the key.
  keydown(e) {
    const { window, total } = this;
    const row = this.rows[this.list.index()];
    const middle = row && row.from >= window.from && row.from <= window.to ? row.from : (window.from + window.to) / 2;
    switch (e.key) {
      case '+': case '=': this.look(zoom(window, total, middle, 0.6)); break;
      case '-': this.look(zoom(window, total, middle, 1 / 0.6)); break;
      case '[': this.look(pan(window, total, -0.25)); break;
      case ']': this.look(pan(window, total, 0.25)); break;
      case '0': this.look(whole(total)); break;
      case 'h': case 'ArrowLeft': if (row && this.isOpen(row)) this.toggle(row); break;
      case 'l': case 'ArrowRight': if (row && !this.isOpen(row)) this.toggle(row); break;
      default: return this.list.keydown(e);
    }
    return true;
  }

  destroy() {
    cancelAnimationFrame(this.due);
    this.list.destroy();
  }
}

// level is a row's place in the tree, for assistive technologies.
export const level = ({ depth }, hasKids, open) => ({ 'aria-level': depth + 1, ...(hasKids && { 'aria-expanded': String(open) }) });

export const key = (row) => (isGroup(row) ? row.key : row.revision);

function trouble(n) {
  if (n.outcome === 'failed') return h('b.trouble.bad', { title: n.works.find((w) => w.error && !w.conflict).error }, '✕ failed');
  if (n.outcome === 'conflict') return h('span.trouble.retried', { title: n.works.find((w) => w.conflict).error }, `↻ ${CONFLICT}`);
  return null;
}

// chain names the events of a group's members: "pods create → bind → update status".
export function chain(g) {
  let last = '';
  return g.chain.map((n) => {
    const of = kind(n.resource);
    const text = `${of === last ? '' : `${of} `}${n.subresource === 'binding' ? 'bind' : action(n)}`;
    last = of;
    return text;
  }).join(' → ');
}
