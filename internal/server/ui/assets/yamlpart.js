// The YAML of an object: shown, or edited.
import { h } from './dom.js';
import { may } from './access.js';
import { edit } from './edit.js';
import { yamlView } from './yamlview.js';

// yamlPart calls done(outcome) after an edit has been applied; see actions.js for outcomes.
export function yamlPart(about, done) {
  const el = h('div');
  let at = '';
  let editing = null;
  let last = [];

  function view() {
    const [o, r] = last;
    const button = h('button', { hidden: true, 'data-action': 'edit', onclick: () => begin() }, 'Edit');
    el.replaceChildren(o ? yamlView(o, button).el : h('p.dim', 'It does not exist.'));
    if (o && r.verbs.includes('update')) may('update', r, about).then((yes) => { button.hidden = !yes; }, () => {});
  }

  function begin() {
    const [o, r] = last;
    if (!o || editing) return;
    editing = edit(about, o, r, (outcome) => {
      editing = null;
      at = '';
      show(...last);
      el.querySelector('[data-action=edit]')?.focus();
      if (outcome) done(outcome);
    });
    el.replaceChildren(editing.el);
    editing.focus();
  }

  function show(o, r) {
    last = [o, r];
    if (editing) {
      editing.present(o);
      return;
    }
    const revision = o?.metadata.resourceVersion || '';
    if (revision === at && el.childNodes.length) return;
    at = revision;
    view();
  }

  return {
    el,
    show,
    keydown(e) {
      const button = el.querySelector('[data-action=edit]:not([hidden])');
      if (e.key !== 'e' || !button) return false;
      begin();
      return true;
    },
  };
}
