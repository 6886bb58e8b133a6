// An object as YAML, with folding, search and copy.
import { h } from './dom.js';
import { copyButton } from './copy.js';
import { yaml } from './diff.js';
import { plural } from './format.js';

const FOLDED = /^  managedFields:/; // at first

// toText is an object's YAML.
export const toText = (o) => yaml(o).replace(/^\n/, '');

export function yamlView(o, ...actions) {
  const text = toText(o);
  const lines = text.replace(/\n$/, '').split('\n').map((line) => ({ text: line, depth: /^ */.exec(line)[0].length + (/^ *- /.test(line) ? 1 : 0), el: null, folded: false }));
  // A line folds the lines after it that are deeper.
  lines.forEach((line, i) => {
    line.end = i + 1;
    while (line.end < lines.length && lines[line.end].depth > line.depth) line.end++;
    line.folded = FOLDED.test(line.text) && line.end > i + 1;
  });
  const code = h('div.yaml', { tabIndex: 0, role: 'region', 'aria-label': 'YAML' });
  const hits = h('span.dim', { role: 'status' });
  const search = h('input', { type: 'search', 'aria-label': 'Find in the YAML', placeholder: 'find', autocomplete: 'off', spellcheck: false });
  let found = [];
  let on = -1;

  function draw() {
    for (let i = 0, hidden = 0; i < lines.length; i++) {
      lines[i].el.hidden = i < hidden;
      if (lines[i].folded && i >= hidden) hidden = lines[i].end;
      const turn = lines[i].el.firstChild;
      if (lines[i].end > i + 1) {
        turn.textContent = lines[i].folded ? '▸' : '▾';
        turn.setAttribute('aria-expanded', String(!lines[i].folded));
        lines[i].el.lastChild.hidden = !lines[i].folded;
      }
    }
  }

  lines.forEach((line, i) => {
    const folds = line.end > i + 1;
    line.el = h('div.line', folds ? h('button.turn', { 'aria-label': `Fold ${line.text.trim()}`, onclick: () => { line.folded = !line.folded; draw(); } }) : h('span.turn'),
      h('code', coloured(line.text)), h('span.rest', { hidden: true }, plural(line.end - i - 1, 'line')));
  });
  code.replaceChildren(...lines.map((l) => l.el));
  draw();

  function look() {
    const want = search.value.toLowerCase();
    for (const i of found) lines[i].el.classList.remove('hit', 'on');
    found = want ? lines.flatMap((l, i) => (l.text.toLowerCase().includes(want) ? [i] : [])) : [];
    for (const i of found) lines[i].el.classList.add('hit');
    on = -1;
    next(1);
    hits.textContent = want ? plural(found.length, 'line') : '';
  }

  function next(by) {
    if (!found.length) return;
    lines[found[on]]?.el.classList.remove('on');
    on = (on + by + found.length) % found.length;
    const i = found[on];
    lines.forEach((l, n) => { if (n < i && l.end > i) l.folded = false; });
    draw();
    lines[i].el.classList.add('on');
    lines[i].el.scrollIntoView({ block: 'nearest' });
  }

  function foldAll() {
    const fold = !lines.some((l) => l.folded && l.depth === 0);
    lines.forEach((l, i) => { if (l.end > i + 1) l.folded = l.depth === 0 ? fold : FOLDED.test(l.text); });
    draw();
  }

  search.addEventListener('input', look);
  search.addEventListener('keydown', (e) => {
    if (e.key !== 'Enter') return;
    next(e.shiftKey ? -1 : 1);
    e.preventDefault();
    e.stopPropagation();
  });
  const copy = copyButton(() => text);
  return { el: h('section.text', h('div.tools', search, hits, h('button', { onclick: foldAll }, 'Fold'), copy, actions), code), text };
}

// coloured marks the key of a line.
function coloured(line) {
  const hit = /^( *(?:- )*)("(?:[^"\\]|\\.)*"|[^\s"#:-][^:]*|-?[^\s"#:]+):( .*|)$/.exec(line);
  if (!hit) return line;
  return [hit[1], h('span.key', hit[2]), ':', hit[3]];
}
