// The statistics of a tree of causes: durations by kind, verb, user or controller.
import { h } from './dom.js';
import { groupings, table } from './stats.js';
import { kind, shortUser, span } from './format.js';

const COLUMNS = [['count', 'count'], ['total', 'total'], ['min', 'min'], ['median', 'median'], ['p95', 'p95'], ['max', 'max']];
const WRITE = { kind, user: shortUser, verb: (v) => v, controller: (v) => v };
const LABELS = { kind: 'by kind', verb: 'by verb', user: 'by user', controller: 'by controller' };

// statTable returns {el, set(tree)}.
export function statTable() {
  let by = 'kind';
  let sort = '-total';
  let tree;
  const about = h('p.dim');
  const body = h('tbody');
  const head = h('tr');
  const pick = h('div.tools', { role: 'group', 'aria-label': 'Group' }, Object.keys(groupings).map((name) => h('button', { onclick: () => { by = name; draw(); } }, LABELS[name])));
  const el = h('div.statistics', pick, about, h('div.scroll', h('table.numbers', h('thead', head), body)));

  function draw() {
    [...pick.children].forEach((b, i) => b.setAttribute('aria-pressed', String(Object.keys(groupings)[i] === by)));
    about.textContent = by === 'controller' ? 'The time of the reconciles that the events caused.' : 'The time of the writes, from the request until readers of the server see them.';
    const column = sort.replace(/^-/, '');
    const way = sort.startsWith('-') ? -1 : 1;
    const all = table(tree.nodes, by).sort((a, b) => way * (column === 'name' ? a.name.localeCompare(b.name) : a[column] - b[column]));
    const most = Math.max(...all.map((r) => r.total), 1e-9);
    head.replaceChildren(header('name', by), ...COLUMNS.map(([name, text]) => header(name, text)), h('th', 'result'));
    body.replaceChildren(...all.map((r) => h('tr', h('th', { scope: 'row' }, WRITE[by](r.name)),
      ...COLUMNS.map(([name]) => h('td', name === 'count' ? r.count.toLocaleString() : name === 'total' ? [h('i.share', { style: { width: `${(r.total / most) * 100}%` } }), h('span', span(r.total * 1e6))] : span(r[name] * 1e6))),
      h('td.result', r.failed > 0 && h('b.bad', `${r.failed} failed `), r.conflicts > 0 && h('span.retried', `${r.conflicts} conflict${r.conflicts === 1 ? '' : 's'}, tried again`)))));
  }

  function header(name, text) {
    const way = sort === name ? '▴' : sort === `-${name}` ? '▾' : '';
    return h('th', { scope: 'col', ariaSort: { '▴': 'ascending', '▾': 'descending' }[way] || 'none' }, h('button.sort', { onclick: () => { sort = sort === `-${name}` ? name : `-${name}`; draw(); } }, text, way));
  }

  return {
    el,
    set(next) {
      tree = next;
      draw();
    },
  };
}
