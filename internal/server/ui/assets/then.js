// An object as it was at a revision, and what has changed since.
import { h } from './dom.js';
import { find, state } from './api.js';
import { changes } from './diff.js';
import { changesTable } from './changes.js';
import { yamlView } from './yamlview.js';
import { kind, object, objectAddress } from './format.js';

export function thenPanel(about, revision, close) {
  const stop = new AbortController();
  const body = h('div.body', h('p.dim', 'reading…'));
  const sum = h('p.dim');
  const el = h('div.pane', h('button.back', { 'aria-label': 'Close', onclick: close }, '×'),
    h('header.about', h('h2', kind(about.resource), ' ', h('b', object(about))), sum, h('p', h('a', { href: objectAddress(about) }, 'the object now, and its history'))), body);

  async function read() {
    try {
      const r = await find(about.resource);
      const [then, now] = await Promise.all([revision, 0].map((at) => state(r, about.namespace, about.name, at, stop.signal)));
      sum.textContent = then ? `as it was at revision ${revision}; last written at ${then.metadata.resourceVersion}` : `it did not exist at revision ${revision}`;
      body.replaceChildren(...[
        then && now && h('section', h('h3', 'From then to now'), changesTable(changes(then, now), then, now)),
        then && !now && h('p.bad', 'It has been deleted since.'),
        then && yamlView(then).el].filter(Boolean));
    } catch (err) {
      if (err.name !== 'AbortError') body.replaceChildren(h('p.bad', err.code === 410 ? 'This state has been compacted.' : err.message));
    }
  }
  read();
  return { el, destroy: () => stop.abort() };
}
