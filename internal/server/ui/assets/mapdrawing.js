// A map as a drawing: objects as cards, relations as lines between them. It can be moved, zoomed and used by keyboard.
import { h, svg } from './dom.js';
import { HEIGHT, WIDTH, layout } from './maplayout.js';
import { MORE, several } from './mapfold.js';
import { object } from './format.js';

const MARGIN = 24;
const LABEL = 15; // height of an edge's label
const SMALLEST = 0.15; // scale
const READABLE = 0.55;
const LARGEST = 2;
const DRAG = 5; // px from a click to a drag

export class Drawing {
  // open(node) is called when a node is opened, pick(node) when one is chosen.
  constructor({ open, pick }) {
    Object.assign(this, { open, pick });
    this.lines = svg('g', { class: 'lines' });
    this.verbs = svg('g', { class: 'verbs' });
    this.cards = svg('g', { class: 'cards' });
    this.root = svg('g', {}, this.lines, this.verbs, this.cards);
    this.el = svg('svg', { class: 'mapdrawing', role: 'application', tabindex: '0', 'aria-label': 'Map. Arrows move along relations, Enter opens. The list has the same relations as text.' }, this.root);
    this.shownCards = new Map(); // id -> {el, text, node}
    this.shownLines = new Map(); // key -> {el, path}
    this.graph = { nodes: [], edges: [] };
    this.at = new Map();
    this.size = { width: 1, height: 1 };
    this.view = { x: 0, y: 0, scale: 1 };
    this.fitted = true; // until the user moves the drawing
    this.picked = '';
    this.watcher = new ResizeObserver(() => { if (this.fitted) this.begin(); });
    this.watcher.observe(this.el);
    this.pointers = new Map();
    this.el.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    this.el.addEventListener('pointerdown', (e) => this.press(e));
    this.el.addEventListener('pointermove', (e) => this.drag(e));
    for (const end of ['pointerup', 'pointercancel']) this.el.addEventListener(end, (e) => this.release(e));
  }

  // show draws a graph of mapfold.js; center is the id of the node that the map is around.
  show(graph, center) {
    const { at, via, width, height } = layout(graph.nodes, graph.edges);
    Object.assign(this, { graph, at, via, center, size: { width, height } });
    this.nodes = new Map(graph.nodes.map((n) => [n.id, n]));
    if (!this.nodes.has(this.picked)) this.picked = '';
    this.draw();
    if (this.fitted) this.begin();
    this.mark();
  }

  draw() {
    for (const [id, card] of this.shownCards) {
      if (this.nodes.has(id)) continue;
      card.el.remove();
      this.shownCards.delete(id);
    }
    for (const n of this.graph.nodes) {
      let card = this.shownCards.get(n.id);
      const text = JSON.stringify([title(n), subtitle(n), word(n), tone(n), Boolean(n.members), n.id === this.center]);
      if (card?.text !== text) {
        card?.el.remove();
        card = { text, el: drawCard(n, n.id === this.center), place: '' };
        this.shownCards.set(n.id, card);
        this.cards.append(card.el);
      }
      const { x, y } = this.at.get(n.id);
      const place = `translate(${x} ${y})`;
      if (card.place !== place) card.el.setAttribute('transform', card.place = place);
    }
    this.drawLines();
  }

  drawLines() {
    const verbs = new Map(); // id -> the verbs of the edges to it
    for (const e of this.graph.edges) {
      if (!verbs.has(e.to)) verbs.set(e.to, []);
      if (!verbs.get(e.to).includes(e.verb)) verbs.get(e.to).push(e.verb);
    }
    const fresh = new Set();
    const line = (key, parent, make, change) => {
      fresh.add(key);
      let one = this.shownLines.get(key);
      if (!one) {
        one = { el: make(), text: '' };
        this.shownLines.set(key, one);
        parent.append(one.el);
      }
      change(one);
    };
    const labelled = new Set();
    for (const e of this.graph.edges) {
      const [a, b] = [this.at.get(e.from), this.at.get(e.to)];
      const all = verbs.get(e.to);
      const port = b.y + HEIGHT / 2 + (all.indexOf(e.verb) - (all.length - 1) / 2) * Math.min(LABEL, (HEIGHT - 6) / all.length);
      const path = curve([{ x: a.x + WIDTH, y: a.y + HEIGHT / 2 }, ...(this.via.get(`${e.from}\n${e.to}`) || []), { x: b.x, y: port }]);
      line(`${e.from}\n${e.to}\n${e.verb}`, this.lines, () => svg('path', { class: 'line' }), (one) => {
        Object.assign(one, { from: e.from, to: e.to });
        if (one.text !== path) one.el.setAttribute('d', one.text = path);
      });
      const key = `${e.to}\n${e.verb}`;
      if (labelled.has(key)) continue;
      labelled.add(key);
      line(key, this.verbs, () => svg('text', { class: 'verb' }, e.verb), (one) => {
        Object.assign(one, { to: e.to, from: '' });
        const place = `${b.x - 9} ${port}`;
        if (one.text === place) return;
        one.text = place;
        one.el.setAttribute('x', b.x - 9);
        one.el.setAttribute('y', port + 4);
      });
    }
    for (const [key, one] of this.shownLines) {
      if (fresh.has(key)) continue;
      one.el.remove();
      this.shownLines.delete(key);
    }
  }

  // mark shows which node is chosen, and its relations.
  mark() {
    for (const [id, card] of this.shownCards) card.el.classList.toggle('on', id === this.picked);
    for (const one of this.shownLines.values()) one.el.classList.toggle('on', Boolean(this.picked) && (one.from === this.picked || one.to === this.picked));
    this.el.classList.toggle('picked', Boolean(this.picked));
    const card = this.shownCards.get(this.picked);
    if (card) this.el.setAttribute('aria-activedescendant', card.el.id); else this.el.removeAttribute('aria-activedescendant');
    this.pick(this.nodes?.get(this.picked));
  }

  choose(id) {
    this.picked = id;
    this.mark();
    this.reveal(id);
  }

  // reveal moves the drawing if a node is not in it.
  reveal(id) {
    const p = this.at.get(id);
    if (!p) return;
    const { x, y, scale } = this.view;
    const { clientWidth: width, clientHeight: height } = this.el;
    const into = (from, to, room) => (from < MARGIN ? MARGIN - from : to > room - MARGIN ? room - MARGIN - to : 0);
    const left = x + p.x * scale;
    const top = y + p.y * scale;
    const by = { x: into(left, left + WIDTH * scale, width), y: into(top, top + HEIGHT * scale, height) };
    if (by.x || by.y) this.move(by.x, by.y);
  }

  place(view) {
    this.view = view;
    this.root.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.scale})`);
  }

  move(dx, dy) {
    this.fitted = false;
    this.place({ ...this.view, x: this.view.x + dx, y: this.view.y + dy });
  }

  // fit shows the whole drawing.
  fit() {
    const { clientWidth: width, clientHeight: height } = this.el;
    const scale = Math.max(SMALLEST, Math.min(1, (width - 2 * MARGIN) / this.size.width, (height - 2 * MARGIN) / this.size.height));
    const middle = (room, size) => Math.max(MARGIN, (room - size * scale) / 2);
    this.place({ x: middle(width, this.size.width), y: middle(height, this.size.height), scale });
  }

  // begin shows the whole drawing, or, if that would be too small to read, the node that it is around or else its left edge.
  begin() {
    const { clientWidth: width, clientHeight: height } = this.el;
    if (!width || !height) return;
    this.fit();
    const first = this.at.get(this.center) || [...this.at.values()].find((p) => !p.x);
    if (this.view.scale >= READABLE || !first) return;
    this.place({ scale: READABLE, x: this.center ? width / 2 - (first.x + WIDTH / 2) * READABLE : MARGIN, y: height / 2 - (first.y + HEIGHT / 2) * READABLE });
  }

  // zoom changes the scale; the point (x, y) stays where it is.
  zoom(factor, x = this.el.clientWidth / 2, y = this.el.clientHeight / 2) {
    const scale = Math.max(SMALLEST, Math.min(LARGEST, this.view.scale * factor));
    const by = scale / this.view.scale;
    this.fitted = false;
    this.place({ scale, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by });
  }

  wheel(e) {
    e.preventDefault();
    const { left, top } = this.el.getBoundingClientRect();
    if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(-e.deltaY / 200), e.clientX - left, e.clientY - top);
    else this.move(e.shiftKey ? -e.deltaY : -e.deltaX, e.shiftKey ? -e.deltaX : -e.deltaY);
  }

  press(e) {
    if (e.button) return;
    this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    this.moved = this.pointers.size > 1;
  }

  drag(e) {
    const last = this.pointers.get(e.pointerId);
    if (!last) return;
    const now = { x: e.clientX, y: e.clientY };
    if (!this.moved && Math.hypot(now.x - last.x, now.y - last.y) < DRAG) return;
    this.moved = true;
    this.el.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, now);
    if (this.pointers.size === 1) {
      this.move(now.x - last.x, now.y - last.y);
      return;
    }
    const [other] = [...this.pointers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    const { left, top } = this.el.getBoundingClientRect();
    this.zoom(Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(last.x - other.x, last.y - other.y)), (now.x + other.x) / 2 - left, (now.y + other.y) / 2 - top);
  }

  release(e) {
    if (!this.pointers.delete(e.pointerId) || this.moved || e.type === 'pointercancel') return;
    const id = e.target.closest('.mapcard')?.dataset.id;
    if (id === undefined) this.choose('');
    else if (id === this.picked || this.nodes.get(id).members) this.open(this.nodes.get(id), id);
    else this.choose(id);
  }

  // next is the node that an arrow leads to: along an edge, or else the closest one in that direction.
  next(key) {
    const here = this.at.get(this.picked);
    if (!here) return this.center || this.graph.nodes[0]?.id;
    const to = (ids) => ids.toSorted((a, b) => Math.abs(this.at.get(a).y - here.y) - Math.abs(this.at.get(b).y - here.y))[0];
    const along = { ArrowRight: this.graph.edges.filter((e) => e.from === this.picked).map((e) => e.to), ArrowLeft: this.graph.edges.filter((e) => e.to === this.picked).map((e) => e.from) }[key];
    if (along?.length) return to(along);
    const far = { // the distance in the direction, which is positive, and beside it
      ArrowRight: (p) => [p.x - here.x, p.y - here.y], ArrowLeft: (p) => [here.x - p.x, p.y - here.y],
      ArrowDown: (p) => [p.y - here.y, p.x - here.x], ArrowUp: (p) => [here.y - p.y, p.x - here.x],
    }[key];
    let best;
    let least = Infinity;
    for (const [id, p] of this.at) {
      const [ahead, beside] = far(p);
      const distance = ahead + 3 * Math.abs(beside);
      if (ahead > 0 && distance < least) [best, least] = [id, distance];
    }
    return best;
  }

  // keydown reports whether it has handled the key.
  keydown(e) {
    const key = { h: 'ArrowLeft', j: 'ArrowDown', k: 'ArrowUp', l: 'ArrowRight' }[e.key] || e.key;
    if (key.startsWith('Arrow')) {
      const id = this.next(key);
      if (id !== undefined) this.choose(id);
    } else if (key === 'Enter' && this.picked) this.open(this.nodes.get(this.picked), this.picked);
    else if (key === '+' || key === '=') this.zoom(1.25);
    else if (key === '-') this.zoom(0.8);
    else if (key === '0') this.fit();
    else if (key === 'Escape' && this.picked) this.choose('');
    else return false;
    return true;
  }

  destroy() {
    this.watcher.disconnect();
  }
}

// curve is a path through points: in turns a bend between two layers, and straight through a layer.
function curve(points) {
  let path = `M${points[0].x} ${points[0].y}`;
  for (let i = 1; i < points.length; i += 2) {
    const [from, to] = [points[i - 1], points[i]];
    const bend = to.x > from.x ? Math.max(30, (to.x - from.x) / 2) : 80;
    path += `C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
    if (points[i + 1]) path += `H${points[i + 1].x}`;
  }
  return path;
}

// Texts of a node.
export const title = (n) => (n.members ? groupTitle(n) : object(n.object).replace(/^.*\//, ''));
export const subtitle = (n) => (n.members ? n.words || (n.rest.length ? 'folded' : 'unfolded') : n.object.kind);
export const word = (n) => (n.members ? '' : n.object.word || '');
const tone = (n) => (n.members ? n.tone : n.object.tone === 'missing' ? 'ill' : n.object.tone || '');

function groupTitle(n) {
  const shown = n.members.length - n.rest.length;
  const count = n.rest.length || n.members.length;
  return `${n.rest.length ? '' : 'fold '}${count.toLocaleString()} ${shown && n.rest.length ? 'more ' : ''}${several(n.kind)}`;
}

// label is what a screen reader says of a node.
export const label = (n) => (n.members ? `${title(n)}${n.words ? `: ${n.words}` : ''}` : `${n.object.kind} ${object(n.object)}${n.object.word ? `, ${n.object.word}` : ''}`);

// nextOpen is how many members of a group are shown after it is opened once more.
export function nextOpen(n) {
  const shown = n.members.length - n.rest.length;
  return n.rest.length ? shown + MORE : 0;
}

let ids = 0;

function drawCard(n, center) {
  const meaning = tone(n);
  const state = n.members ? '' : word(n);
  const room = WIDTH - 26;
  const stateText = state && short(state, 11.5, room - 20 - Math.min(measure(subtitle(n), 11.5), room * 0.4), true);
  const kindText = short(subtitle(n), 11.5, stateText ? room - 20 - measure(stateText, 11.5) : room, true);
  const parts = [
    n.members && svg('rect', { class: 'back', x: 5, y: 5, width: WIDTH, height: HEIGHT, rx: 9 }),
    svg('rect', { class: 'face', width: WIDTH, height: HEIGHT, rx: 9 }),
    meaning && svg('path', { class: `edge ${meaning}`, d: `M9 0H5V${HEIGHT}H9a9 9 0 0 1-9-9V9a9 9 0 0 1 9-9z` }),
    svg('text', { class: 'name', x: 14, y: n.members ? 20 : 37 }, short(title(n), 13.5, room)),
    svg('text', { class: 'kind', x: 14, y: n.members ? 37 : 18 }, kindText),
    stateText && svg('circle', { class: `lamp ${meaning}`, cx: WIDTH - 12 - measure(stateText, 11.5) - 9, cy: 14, r: 4 }),
    stateText && svg('text', { class: `state ${meaning}`, x: WIDTH - 12, y: 18 }, stateText),
    svg('title', {}, n.members ? label(n) : `${label(n)}${n.object.text ? `: ${n.object.text}` : ''}`),
  ].filter(Boolean);
  const el = svg('g', { class: `mapcard${n.members ? ' group' : ''}${center ? ' center' : ''}`, id: `mapnode${ids++}`, role: 'img', 'aria-label': label(n) }, ...parts);
  el.dataset.id = n.id;
  return el;
}

const widths = new Map();
const pen = document.createElement('canvas').getContext('2d');

function measure(text, size) {
  const key = `${size} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > 5000) widths.clear();
    pen.font = `${size}px ${getComputedStyle(document.documentElement).fontFamily}`;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}

// short is a text that fits into so many pixels. Of a long name the middle is left out, since its ends tell more; of another
// text the end.
function short(text, size, room, end = false) {
  if (measure(text, size) <= room) return text;
  let n = Math.max(2, Math.floor((text.length * room) / measure(text, size)) + 1);
  const cut = () => (end ? `${text.slice(0, n)}…` : `${text.slice(0, Math.ceil(n / 2))}…${text.slice(text.length - Math.floor(n / 2))}`);
  while (n > 2 && measure(cut(), size) > room) n--;
  return cut();
}

// tools are the buttons of a drawing.
export const drawingTools = (drawing) => h('span.zooms', { role: 'group', 'aria-label': 'Zoom' },
  [['−', 'Smaller (-)', () => drawing.zoom(0.8)], ['+', 'Larger (+)', () => drawing.zoom(1.25)], ['Fit', 'Fit all (0)', () => drawing.fit()]].map(([text, tip, onclick]) => h('button', { title: tip, 'aria-label': tip, onclick }, text)));
