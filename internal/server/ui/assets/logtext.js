// The lines of a log. They are drawn once a frame, in blocks, of which the browser lays out only those in sight.
import { h } from './dom.js';

export const MAX_LINES = 10000;
const BLOCK = 250; // lines
const MAX_HITS = 5000;
const PENDING = 1e6; // characters before they are divided into lines
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|\r(?=\n)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f]/g;

export class LogText {
  constructor() {
    this.el = h('div.logtext', { tabIndex: 0, role: 'log', 'aria-label': 'Log', 'aria-live': 'off' });
    this.el.addEventListener('scroll', () => { this.following = this.el.scrollTop + this.el.clientHeight > this.el.scrollHeight - 24; }, { passive: true });
    this.changed = () => {};
    this.paused = false;
    this.words = '';
    this.clear();
  }

  clear() {
    cancelAnimationFrame(this.due);
    this.due = 0;
    this.fresh = []; // lines that are not drawn
    this.rest = ''; // of the last line
    this.blocks = []; // {lines, el}
    this.count = 0;
    this.dropped = 0;
    this.hits = 0;
    this.following = true;
    this.el.replaceChildren();
    this.look();
  }

  get waiting() { return this.paused ? this.fresh.length : 0; }

  add(text) {
    const parts = (this.rest + text).split('\n');
    this.rest = parts.pop();
    if (this.rest.length > PENDING) parts.push(this.rest.slice(0, PENDING)), this.rest = this.rest.slice(PENDING);
    for (const line of parts) this.fresh.push(line.replace(ESCAPES, ''));
    if (this.fresh.length > 2 * MAX_LINES) this.dropped += this.fresh.splice(0, this.fresh.length - MAX_LINES).length;
    this.later();
  }

  // end draws a last line that has no end.
  end() {
    if (this.rest) this.add('\n');
  }

  later() {
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      if (!this.paused) this.draw();
      this.changed();
    });
  }

  pause(on) {
    this.paused = on;
    this.later();
  }

  draw() {
    if (!this.fresh.length) return;
    let lines = this.fresh;
    this.fresh = [];
    if (lines.length > MAX_LINES) {
      this.dropped += lines.length - MAX_LINES;
      lines = lines.slice(-MAX_LINES);
    }
    const touched = new Set();
    for (let i = 0; i < lines.length;) {
      let last = this.blocks[this.blocks.length - 1];
      if (!last || last.lines.length === BLOCK) {
        last = { lines: [], el: h('div') };
        this.blocks.push(last);
      }
      const some = lines.slice(i, i + BLOCK - last.lines.length);
      last.lines.push(...some);
      touched.add(last);
      i += some.length;
    }
    this.count += lines.length;
    while (this.count - this.blocks[0].lines.length >= MAX_LINES) {
      const first = this.blocks.shift();
      first.el.remove();
      touched.delete(first);
      this.count -= first.lines.length;
      this.dropped += first.lines.length;
    }
    for (const b of touched) {
      b.el.textContent = `${b.lines.join('\n')}\n`;
      if (!b.el.isConnected) this.el.append(b.el);
    }
    this.look();
    if (this.following) this.el.scrollTop = this.el.scrollHeight;
  }

  all() {
    return this.blocks.flatMap((b) => b.lines).map((l) => `${l}\n`).join('');
  }

  // find highlights a text, and shows its last place.
  find(words) {
    this.words = words.toLowerCase();
    this.look();
    this.on = this.ranges.length;
    this.next(-1);
    this.changed();
  }

  look() {
    this.ranges = [];
    if (this.words) {
      for (const { el } of this.blocks) {
        const node = el.firstChild;
        const text = node.data.toLowerCase();
        for (let at = text.indexOf(this.words); at >= 0 && this.ranges.length < MAX_HITS; at = text.indexOf(this.words, at + this.words.length)) {
          const range = new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + this.words.length });
          this.ranges.push(range);
        }
      }
    }
    this.hits = this.ranges.length;
    globalThis.CSS?.highlights?.set('log-hit', new Highlight(...this.ranges));
  }

  // next shows the next hit, or the one before.
  next(by) {
    CSS.highlights?.delete('log-on');
    if (!this.ranges.length) return;
    this.on = (this.on + by + this.ranges.length) % this.ranges.length;
    const { startContainer, startOffset, endOffset } = this.ranges[this.on];
    const range = new Range();
    range.setStart(startContainer, Math.min(startOffset, startContainer.length));
    range.setEnd(startContainer, Math.min(endOffset, startContainer.length));
    CSS.highlights?.set('log-on', new Highlight(range));
    startContainer.parentElement.scrollIntoView({ block: 'nearest' }); // lays the block out
    const box = range.getBoundingClientRect();
    const around = this.el.getBoundingClientRect();
    this.el.scrollTop += box.top - around.top - around.height / 2;
    this.following = false;
  }

  destroy() {
    cancelAnimationFrame(this.due);
    for (const name of ['log-hit', 'log-on']) CSS.highlights?.delete(name);
  }
}
