// Editing an object as YAML: the server checks the text by a dry run, the difference to what it would store is shown, and
// the text is applied on the condition that nobody else has changed the object.
import { h } from './dom.js';
import { objectPath, write } from './api.js';
import { changes } from './diff.js';
import { changesTable } from './changes.js';
import { errorText } from './dialog.js';
import { copyButton } from './copy.js';
import { Editor } from './editor.js';
import { kubectl, target } from './kubectl.js';
import { merge } from './merge.js';
import { present } from './edited.js';
import { notes } from './yamlpath.js';
import { toText } from './yamlview.js';

const same = (a, b) => !changes(a, b).length;

// edit edits an object that exists. It calls done(outcome) after the text has been applied, and done() if the user gives
// up.
export function edit(about, object, r, done) {
  let { shown: base, revision } = present(object, r);
  let other = null; // a later state of the object, by somebody else
  let checked = ''; // the text that the server has accepted
  const editor = new Editor({ text: toText(base), label: `YAML of ${target(r, about.name)}`, changed, check: () => check(), leave: () => primary.focus() });
  const primary = h('button.primary', { onclick: () => (checked === editor.text ? apply() : check()) }, 'Check');
  const cancel = h('button', { onclick: () => leave() }, 'Cancel');
  const command = kubectl(about, 'edit', target(r, about.name));
  const meanwhile = h('div.meanwhile', { role: 'status', hidden: true });
  const result = h('div.result', { role: 'status' });
  const el = h('section.text', { 'aria-label': 'Edit' }, h('div.tools', primary, cancel, h('span.dim.hint', 'Ctrl-Enter checks; Tab indents, Esc leaves the text'), h('code.command', command), copyButton(() => command)),
    meanwhile, result, editor.el);

  function changed() {
    if (checked === editor.text) return;
    checked = '';
    primary.textContent = 'Check';
    result.replaceChildren();
  }

  function leave() {
    if (editor.text === toText(base) || cancel.dataset.asked) {
      done();
      return;
    }
    cancel.dataset.asked = 'yes';
    cancel.textContent = 'Discard the changes';
    cancel.addEventListener('blur', () => { delete cancel.dataset.asked; cancel.textContent = 'Cancel'; }, { once: true });
  }

  async function send(query) {
    const { text, line } = conditional(editor.text, revision);
    if (!text) throw Object.assign(new Error('The text needs metadata: on a line of its own.'), { causes: [] });
    try {
      return await write('PUT', objectPath(r, about.namespace, about.name), { type: 'application/yaml', query: { fieldValidation: 'Strict', ...query }, body: text });
    } catch (err) {
      err.line = line;
      throw err;
    }
  }

  async function check() {
    const text = editor.text;
    await trying('checking…', async () => {
      const { object: would, warnings } = await send({ dryRun: 'All' });
      if (editor.text !== text) return;
      const list = changes(base, present(would, r).shown);
      result.replaceChildren(h('h3', 'What the server would store'), changesTable(list), ...warnings.map((w) => h('p.retried', `Warning: ${w}`)));
      if (!list.length) return;
      checked = text;
      primary.textContent = 'Apply';
      primary.focus();
    });
  }

  async function apply() {
    await trying('applying…', async () => {
      const { trace, warnings } = await send({});
      done({ text: 'Applied.', trace, warnings });
    });
  }

  async function trying(doing, run) {
    editor.annotate([]);
    primary.disabled = true;
    result.replaceChildren(h('p.dim', doing));
    try {
      await run();
    } catch (err) {
      fail(err);
    } finally {
      primary.disabled = false;
    }
  }

  function fail(err) {
    checked = '';
    primary.textContent = 'Check';
    if (err.code === 409 && other) {
      result.replaceChildren(h('p.bad', 'Somebody else has changed the object: rebase your changes on theirs.'));
      meanwhile.querySelector('button')?.focus();
      return;
    }
    const found = notes(editor.text, err);
    editor.annotate(found);
    result.replaceChildren(h('div.failure', { role: 'alert' }, found.length ? [h('p.bad', 'The server refuses the text.'), h('ul', found.map((n) => h('li', n.line >= 0 && [h('button.link', { onclick: () => editor.go(n.line) }, `line ${n.line + 1}`), ' '], n.field && [h('code', n.field), ' '], n.text)))]
      : err.code === 409 ? h('p.bad', 'The object has changed meanwhile. Reading the present state…') : errorText(err)));
  }

  // rebase puts the user's changes on the other state.
  function rebase() {
    const { text, conflicts } = merge(toText(base), editor.text, toText(other.shown));
    ({ shown: base, revision } = other);
    other = null;
    meanwhile.hidden = true;
    editor.text = text;
    changed();
    result.replaceChildren(h('p.dim', conflicts.length ? 'Both have changed these lines: choose.' : 'Your changes are now on the present state.'));
    editor.annotate(conflicts.map((line) => ({ line, text: 'theirs is below yours' })));
    if (conflicts.length) editor.go(conflicts[0]); else editor.focus();
  }

  return {
    el,
    focus: () => editor.focus(),
    // present takes the object's present state, from the watch.
    present(now) {
      if (!now) {
        meanwhile.hidden = false;
        meanwhile.replaceChildren(h('p.bad', 'The object has been deleted.'));
        return;
      }
      const state = present(now, r);
      if (same(base, state.shown)) { // only the status has changed
        ({ revision } = state);
        other = null;
        meanwhile.hidden = true;
        return;
      }
      other = state;
      meanwhile.hidden = false;
      meanwhile.replaceChildren(h('h3', 'Changed meanwhile'), changesTable(changes(base, state.shown), base, now), h('button', { onclick: rebase }, 'Rebase my changes on this'));
    },
  };
}

// conditional puts the revision into the text, which makes the request fail if the object has another; line is the index of
// the line that it adds.
function conditional(text, revision) {
  const lines = text.split('\n');
  const at = lines.findIndex((l) => /^metadata:\s*(#.*)?$/.test(l));
  if (at < 0) return {};
  const indent = /^ +/.exec(lines.slice(at + 1).find((l) => /^ *[^ #]/.test(l)) || '')?.[0] || '  ';
  lines.splice(at + 1, 0, `${indent}resourceVersion: "${revision}"`);
  return { text: lines.join('\n'), line: at + 1 };
}
