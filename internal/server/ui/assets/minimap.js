// A small picture of a whole tree of causes, on which the shown window of time is chosen.
import { h } from './dom.js';
import { context, onTheme } from './canvas.js';
import { isWhole, pan, whole, within, zoom } from './axis.js';
import { span } from './format.js';

const EDGE = 6; // px, around an edge of the window that can be moved
const DRAG = 3; // px

// Minimap calls look(window) when the user has chosen one.
export class Minimap {
  constructor({ look }) {
    this.look = look;
    this.canvas = h('canvas', { tabIndex: 0, role: 'slider', 'aria-label': 'Shown part of the time', 'aria-valuemin': 0 });
    this.before = h('div.shade');
    this.after = h('div.shade');
    this.el = h('div.minimap', { title: 'Drag to choose a window; double-click for all' }, this.canvas, this.before, this.after);
    this.watcher = new ResizeObserver(() => this.later());
    this.watcher.observe(this.el);
    this.unwatch = onTheme(() => this.later());
    this.el.addEventListener('pointerdown', (e) => this.press(e));
    this.el.addEventListener('pointermove', (e) => this.move(e));
    this.el.addEventListener('pointerup', () => { this.pressed = undefined; });
    this.el.addEventListener('pointercancel', () => { this.pressed = undefined; });
    this.el.addEventListener('dblclick', () => this.look(whole(this.total)));
    this.el.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    this.window = whole(1);
    this.total = 1;
  }

  set(tree, path) {
    Object.assign(this, { tree, path, total: tree.total });
    this.canvas.setAttribute('aria-valuemax', tree.total);
    this.later();
  }

  // show moves the window without drawing the tree again.
  show(window) {
    this.window = window;
    const part = (at) => Math.min(Math.max(at / this.total, 0), 1) * 100;
    this.before.style.width = `${part(window.from)}%`;
    this.after.style.width = `${100 - part(window.to)}%`;
    this.canvas.setAttribute('aria-valuenow', window.from);
    this.canvas.setAttribute('aria-valuetext', `from ${span(window.from * 1e6)} to ${span(window.to * 1e6)} of ${span(this.total * 1e6)}`);
  }

  later() { this.due ||= requestAnimationFrame(() => { this.due = 0; this.draw(); }); }

  draw() {
    const { canvas, tree } = this;
    const { clientWidth: width, clientHeight: height } = this.el;
    if (!tree || !width) return;
    const ctx = context(canvas, width, height);
    const style = getComputedStyle(canvas);
    const x = (at) => (at / this.total) * width;
    const step = (height - 6) / tree.nodes.length;
    const line = Math.min(Math.max(step * 0.7, 1), 4);
    ctx.fillStyle = style.color;
    // Of the many nodes that share a line of pixels the union of a few is drawn.
    const every = Math.max(1, Math.floor(0.25 / step));
    for (let i = 0; i < tree.nodes.length; i += every) {
      const n = tree.nodes[i];
      ctx.globalAlpha = 0.35;
      ctx.fillRect(x(n.from), 3 + i * step, Math.max(x(n.to) - x(n.from), 1), line);
      ctx.globalAlpha = 1;
      ctx.fillRect(x(n.from), 3 + i * step, Math.max(x(n.own), 1), line);
    }
    ctx.fillStyle = style.borderTopColor;
    for (const link of this.path) ctx.fillRect(x(link.from), 3 + link.node.index * step, Math.max(x(link.to) - x(link.from), 1.5), Math.max(line, 2));
    this.show(this.window);
  }

  at(e) {
    const box = this.el.getBoundingClientRect();
    return Math.min(Math.max((e.clientX - box.left) / box.width, 0), 1) * this.total;
  }

  press(e) {
    if (e.button !== 0) return;
    const at = this.at(e);
    const edge = (EDGE / this.el.clientWidth) * this.total;
    const { window } = this;
    const full = isWhole(window, this.total);
    const near = (side) => !full && Math.abs(window[side] - at) < edge;
    this.pressed = { x: e.clientX, at, window, how: near('from') ? 'from' : near('to') ? 'to' : !full && at > window.from && at < window.to ? 'move' : 'new' };
    this.el.setPointerCapture(e.pointerId);
  }

  move(e) {
    const { pressed } = this;
    if (!pressed || Math.abs(e.clientX - pressed.x) < DRAG) return;
    const at = this.at(e);
    const fixed = { from: pressed.window.to, to: pressed.window.from, new: pressed.at }[pressed.how];
    if (pressed.how === 'move') this.look({ from: pressed.window.from + at - pressed.at, to: pressed.window.to + at - pressed.at });
    else this.look(within({ from: Math.min(at, fixed), to: Math.max(at, fixed) }, this.total));
  }

  wheel(e) {
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.look(pan(this.window, this.total, (e.deltaX || e.deltaY) / 800));
    else this.look(zoom(this.window, this.total, this.at(e), 1.0015 ** e.deltaY));
  }

  keydown(e) {
    if (document.activeElement !== this.canvas) return false;
    const by = { ArrowLeft: -0.1, ArrowRight: 0.1, Home: -Infinity, End: Infinity }[e.key];
    if (!by) return false;
    const length = this.window.to - this.window.from;
    this.look(Number.isFinite(by) ? pan(this.window, this.total, by) : by < 0 ? { from: 0, to: length } : { from: this.total - length, to: this.total });
    return true;
  }

  destroy() {
    this.watcher.disconnect();
    this.unwatch();
    cancelAnimationFrame(this.due);
  }
}
