// A virtual list: only the visible rows are in the document. All rows have the same height. A list whose rows fold is a
// tree: draw gives its rows aria-level and aria-expanded.
import { h } from './dom.js';

export class List {
  // draw(i) makes row i; choose(i) is called when it is selected, open(i) when it is opened;
  // key(i) identifies it.
  constructor({ label, tree, draw, count, choose, open, key }) {
    Object.assign(this, { draw, count, choose, open, key });
    this.selected = undefined; // a key
    this.rows = new Map(); // i -> element
    this.role = tree ? 'treeitem' : 'option';
    this.room = h('div.room', { role: 'presentation' });
    this.el = h('div.list', { role: tree ? 'tree' : 'listbox', tabIndex: 0, 'aria-label': label }, this.room);
    this.el.addEventListener('scroll', () => this.later(), { passive: true });
    this.el.addEventListener('click', (e) => {
      const row = e.target.closest('[data-i]');
      if (row) this.select(Number(row.dataset.i), true);
    });
    this.watcher = new ResizeObserver(() => { this.measure(); this.redraw(); });
    this.watcher.observe(this.el);
    this.height = 30;
  }

  measure() {
    this.height = parseFloat(getComputedStyle(this.el).getPropertyValue('--row')) || 30;
  }

  later() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => { this.due = 0; this.show(); });
  }

  // redraw draws all visible rows again.
  redraw() {
    this.stale = true;
    this.show();
  }

  // shift is called after n rows were added at the top. It draws them with the next frame; a
  // list that is not at the top keeps its scroll position.
  shift(n) {
    if (this.el.scrollTop > 4 && n) {
      this.room.style.height = `${this.count() * this.height}px`;
      this.el.scrollTop += n * this.height;
    }
    this.stale = true;
    this.later();
  }

  show() {
    if (this.stale) {
      for (const row of this.rows.values()) row.remove();
      this.rows.clear();
      this.stale = false;
    }
    const n = this.count();
    this.room.style.height = `${n * this.height}px`;
    const from = Math.max(0, Math.floor(this.el.scrollTop / this.height) - 6);
    const to = Math.min(n, Math.ceil((this.el.scrollTop + this.el.clientHeight) / this.height) + 6);
    for (const [i, row] of this.rows) {
      if (i < from || i >= to) {
        row.remove();
        this.rows.delete(i);
      }
    }
    for (let i = from; i < to; i++) {
      let row = this.rows.get(i);
      if (!row) {
        row = this.draw(i);
        row.dataset.i = i;
        row.id = row.id || `row-${i}`;
        row.setAttribute('role', this.role);
        row.setAttribute('aria-setsize', n);
        row.setAttribute('aria-posinset', i + 1);
        row.style.transform = `translateY(${i * this.height}px)`;
        this.rows.set(i, row);
        this.room.append(row);
      }
      const on = this.selected !== undefined && this.key(i) === this.selected;
      row.classList.toggle('on', on);
      row.setAttribute('aria-selected', on);
      if (on) this.el.setAttribute('aria-activedescendant', row.id);
    }
  }

  index() {
    if (this.selected === undefined) return -1;
    for (let i = 0; i < this.count(); i++) if (this.key(i) === this.selected) return i;
    return -1;
  }

  select(i, open = false) {
    if (i < 0 || i >= this.count()) return;
    this.selected = this.key(i);
    const top = i * this.height;
    if (top < this.el.scrollTop) this.el.scrollTop = top;
    else if (top + this.height > this.el.scrollTop + this.el.clientHeight) this.el.scrollTop = top + this.height - this.el.clientHeight;
    this.show();
    if (this.choose) this.choose(i);
    if (open && this.open) this.open(i);
  }

  // reveal selects a key without calling choose, and scrolls to it if it is not visible.
  reveal(key) {
    this.selected = key;
    const i = this.index();
    const top = i * this.height;
    if (i >= 0 && (top < this.el.scrollTop || top + this.height > this.el.scrollTop + this.el.clientHeight)) {
      this.el.scrollTop = Math.max(0, top - this.el.clientHeight / 2);
    }
    this.show();
  }

  move(by) {
    const now = this.index();
    this.select(now < 0 ? 0 : Math.max(0, Math.min(this.count() - 1, now + by)));
  }

  // keydown reports whether it has handled the key.
  keydown(e) {
    const page = Math.max(1, Math.floor(this.el.clientHeight / this.height) - 1);
    switch (e.key) {
      case 'j': case 'ArrowDown': this.move(1); break;
      case 'k': case 'ArrowUp': this.move(-1); break;
      case 'PageDown': this.move(page); break;
      case 'PageUp': this.move(-page); break;
      case 'g': case 'Home': this.select(0); break;
      case 'G': case 'End': this.select(this.count() - 1); break;
      case 'Enter': {
        const i = this.index();
        if (i < 0) return false;
        this.select(i, true);
        break;
      }
      default: return false;
    }
    return true;
  }

  destroy() {
    this.watcher.disconnect();
    cancelAnimationFrame(this.due);
  }
}
