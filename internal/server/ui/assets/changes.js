// A table of the changes between two states of an object.
import { h } from './dom.js';
import { owners, pathText, short } from './diff.js';

const MAX = 40; // changes

// breakable allows a line break before each field of a path.
const breakable = (path) => path.split(/(?=[.[])/).flatMap((part) => [part, h('wbr')]);

// changesTable shows changes with the managers of the changed fields.
export function changesTable(list, before, after) {
  if (!list.length) return h('p.dim', 'no visible changes');
  return h('div.changes', list.slice(0, MAX).map((c) => {
    const by = owners(c.to === undefined ? before : after, c.path);
    const names = [...new Set(by.map((m) => m.manager + (m.operation === 'Apply' ? ' (applied)' : '')))].join(', ');
    return h('div.change', h('span.path', { title: pathText(c.path) }, breakable(pathText(c.path))),
      h('span.values', c.from !== undefined && h('del', short(c.from)), c.to !== undefined && h('ins', short(c.to))),
      h('span.manager', { title: names && `managed by ${names}` }, names));
  }), list.length > MAX && h('p.dim', `and ${list.length - MAX} more`));
}
