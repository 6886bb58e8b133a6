// A text area with line numbers, and with notes beside lines.
import { h } from './dom.js';

const STEP = '  ';

export class Editor {
  // changed is called after each change, check on Ctrl-Enter, leave on Escape, by which the Tab key is free again.
  constructor({ text, label, changed, check, leave }) {
    this.area = h('textarea', { 'aria-label': label, spellcheck: false, autocomplete: 'off', wrap: 'off', value: text });
    this.area.setAttribute('autocapitalize', 'off');
    this.numbers = h('div.gutter', { 'aria-hidden': 'true' });
    this.beside = h('div.beside-lines', { 'aria-hidden': 'true' });
    this.el = h('div.editor', this.numbers, h('div.sheet', this.area, this.beside));
    this.changed = changed;
    this.marks = [];
    this.area.addEventListener('input', () => { this.annotate([]); this.fit(); changed(); });
    this.area.addEventListener('keydown', (e) => this.keydown(e, check, leave));
    this.fit();
  }

  get text() { return this.area.value; }

  set text(value) {
    this.area.value = value;
    this.fit();
  }

  focus() {
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(0, 0);
  }

  // fit makes the text area as large as its text, so that only the element around it scrolls.
  fit() {
    const lines = this.text.split('\n');
    if (this.count !== lines.length) {
      this.count = lines.length;
      this.area.rows = lines.length;
      this.numbers.replaceChildren(...lines.map((_, i) => h('div', i + 1)));
      this.mark();
    }
    this.area.cols = Math.max(40, ...lines.map((l) => l.length + 2));
  }

  // annotate shows notes, {line, text}, beside their lines.
  annotate(notes) {
    this.marks = notes.filter((n) => n.line >= 0);
    this.beside.replaceChildren();
    const lines = this.text.split('\n');
    const byLine = new Map();
    for (const n of this.marks) byLine.set(n.line, [...(byLine.get(n.line) || []), n.text]);
    for (const [line, texts] of byLine) this.beside.append(h('span', { style: { top: `${line * 1.5}em`, left: `${lines[line].length + 2}ch` } }, texts.join('; ')));
    this.mark();
  }

  mark() {
    for (const el of this.numbers.querySelectorAll('.ill')) el.classList.remove('ill');
    for (const { line } of this.marks) this.numbers.children[line]?.classList.add('ill');
  }

  // go puts the cursor at the end of a line.
  go(line) {
    const lines = this.text.split('\n');
    const at = lines.slice(0, line + 1).join('\n').length;
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(at, at);
    this.numbers.children[line]?.scrollIntoView({ block: 'center' });
  }

  keydown(e, check, leave) {
    if (e.key === 'Escape') leave();
    else if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) check();
    else if (e.key === 'Tab' && !e.ctrlKey && !e.altKey && !e.metaKey) this.indent(e.shiftKey);
    else if (e.key === 'Enter') this.insert(`\n${/^ *(- )?/.exec(this.line())[0].replace('-', ' ')}`);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  // line is the text of the cursor's line, before the cursor.
  line() {
    const before = this.text.slice(0, this.area.selectionStart);
    return before.slice(before.lastIndexOf('\n') + 1);
  }

  // insert replaces the selection; the browser's undo knows it.
  insert(text) {
    if (!document.execCommand(text ? 'insertText' : 'delete', false, text)) {
      this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, 'end');
      this.area.dispatchEvent(new Event('input'));
    }
  }

  // indent moves the selected lines to the right, or back.
  indent(back) {
    const { selectionStart: from, selectionEnd: to } = this.area;
    if (from === to && !back) {
      this.insert(STEP);
      return;
    }
    const start = this.text.lastIndexOf('\n', from - 1) + 1;
    const old = this.text.slice(start, to);
    const now = old.replace(back ? /^ {1,2}/gm : /^(?=.)/gm, back ? '' : STEP);
    if (now === old) return;
    this.area.setSelectionRange(start, to);
    this.insert(now);
    this.area.setSelectionRange(from === to ? start + now.length : start, start + now.length);
  }
}
