// An object: what it is waiting for, its present state, its history, and what can be done to it.
import { h } from './dom.js';
import { may } from './access.js';
import { actionsBar } from './actions.js';
import { address } from './address.js';
import { logsPart } from './logs.js';
import { present } from './present.js';
import { relatedPart } from './related.js';
import { terminalPart } from './terminal.js';
import { timeline } from './timeline.js';
import { whyCard } from './why.js';
import { yamlPart } from './yamlpart.js';
import { browseAddress, kind, object, objectAddress } from './format.js';

// The parts of the panel; each is a function of the object's identity, and of a function that takes the outcome of an
// action, that returns {el, show(object, resource), update(), keydown(e), destroy()}. show is called with each present state,
// update when the address has changed. The parts of pods alone name the access that they need.
const parts = [
  ['', 'Why', (about) => whyCard(about)],
  ['related', 'Related', (about) => relatedPart(about)],
  ['yaml', 'YAML', (about, done) => yamlPart(about, done)],
  ['logs', 'Logs', (about) => logsPart(about), ['get', 'log']],
  ['terminal', 'Terminal', (about) => terminalPart(about), ['create', 'exec']],
  ['history', 'History', (about) => timeline(about)],
];

// objectPanel shows an object; link(part) is the address of a part, and close closes the panel, if it can be closed.
export function objectPanel(about, { close, link }) {
  let shown = null; // {name, view}
  let last = null; // the arguments of the last show
  const sum = h('p.dim');
  const actions = actionsBar(about);
  const tabs = h('nav.tabs', { 'aria-label': 'Parts' }, parts.map(([name, title, , needs]) => h('a', { href: link(name), 'data-part': name, hidden: Boolean(needs) }, title)));
  if (about.resource === 'pods') {
    for (const [name, , , needs] of parts) if (needs) allow(about, needs).then((yes) => { tabs.querySelector(`[data-part=${name}]`).hidden = !yes; }, () => {});
  }
  const body = h('div.body');
  const el = h('div.pane', close && h('button.back', { 'aria-label': 'Close', onclick: close }, '×'),
    h('header.about', h('h2', h('a', { href: browseAddress(about.resource, { namespace: about.namespace }) }, kind(about.resource)), ' ', h('b', object(about))), sum,
      h('p', close && [h('a', { href: objectAddress(about) }, 'on its own'), ' · '], h('a', { href: `#/events?${new URLSearchParams({ text: about.name, kind: about.resource, namespace: about.namespace || '' })}` }, 'its events'))), actions.el, tabs, body);
  const live = present(about, (o, r) => {
    sum.className = 'dim';
    sum.textContent = o ? `revision ${o.metadata.resourceVersion}${o.metadata.deletionTimestamp ? ', being deleted' : ''}` : 'It does not exist.';
    last = [o, r];
    actions.show(...last);
    shown?.view.show?.(...last);
  }, (err) => {
    sum.className = 'bad';
    sum.textContent = err.message;
  });

  return {
    el,
    update(part = '') {
      const [name, , make] = parts.find(([n]) => n === part) || parts[0];
      for (const a of tabs.children) {
        a.href = link(a.dataset.part);
        if (a.dataset.part === name) a.setAttribute('aria-current', 'page'); else a.removeAttribute('aria-current');
      }
      if (shown?.name === name) {
        shown.view.update?.();
        return;
      }
      shown?.view.destroy?.();
      shown = { name, view: make(about, actions.report) };
      body.replaceChildren(shown.view.el);
      if (last) shown.view.show?.(...last);
    },
    keydown(e) {
      if (e.key === 'a') actions.focus();
      else return Boolean(shown?.view.keydown?.(e));
      return true;
    },
    destroy() {
      live.destroy();
      shown?.view.destroy?.();
    },
  };
}

const allow = (about, [verb, subresource]) => may(verb, { group: '', version: 'v1', plural: 'pods' }, about, subresource);

export function objectView() {
  const el = h('div.object');
  let panel = null;
  let now = '';
  return {
    el,
    title: () => address().parts[3],
    update([resource = '', ns = '', name = '']) {
      const about = { resource, namespace: ns === '-' ? '' : ns, name };
      if (!name) {
        location.replace(browseAddress(resource || 'pods'));
        return;
      }
      const of = JSON.stringify(about);
      if (now !== of) {
        panel?.destroy();
        panel = objectPanel(about, { link: (part) => `${objectAddress(about)}${part ? `?part=${part}` : ''}` });
        el.replaceChildren(panel.el);
        now = of;
      }
      panel.update(address().query.get('part') || '');
    },
    keydown(e) {
      if (panel?.keydown(e)) return true;
      if (e.key === 'Escape') {
        if (history.length > 1) history.back(); else location.hash = '#/browse';
        return true;
      }
      const links = [...el.querySelectorAll('.why summary, .timeline a.rev')];
      const by = { j: 1, k: -1 }[e.key];
      if (!by || !links.length) return false;
      links[Math.max(0, Math.min(links.length - 1, links.indexOf(document.activeElement) + by))].focus();
      return true;
    },
    destroy: () => panel?.destroy(),
  };
}
