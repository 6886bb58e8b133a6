// A dialog that explains one action, shows the command that does the same, and asks once.
import { h } from './dom.js';
import { copyButton } from './copy.js';

// confirm shows the dialog: with a title, content (elements, fields among them), command() (the command of kubectl, or
// of another tool, of the fields' present values), the label of the button that acts, and danger for an action that destroys. run(signal)
// acts; the dialog stays open until it has ended, and shows its error. valid() is false while the fields have no
// action. confirm returns what run returned, undefined if the user cancelled.
export function confirm({ title, content, command, tool = 'kubectl', label, danger, run, valid = () => true }) {
  const stop = new AbortController();
  const code = h('code.command');
  const failure = h('div.failure', { role: 'alert' });
  const act = h('button', { className: danger ? 'danger' : 'primary', type: 'submit' }, label);
  const cancel = h('button', { type: 'button', onclick: () => box.close() }, label ? 'Cancel' : 'Close');
  const form = h('form', h('h2', title), content,
    command && h('div.equivalent', h('span.dim', { id: 'equivalent' }, `the same by ${tool}`), h('div', code, copyButton(() => code.textContent))),
    failure, h('div.choice', cancel, label && act));
  const box = h('dialog.action', { 'aria-label': title }, form);
  let outcome;

  function refresh() {
    if (command) code.textContent = command();
    act.disabled = !valid();
  }

  form.addEventListener('input', refresh);
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    if (!label || act.disabled) return;
    failure.replaceChildren();
    act.disabled = true;
    form.setAttribute('aria-busy', 'true');
    try {
      outcome = await run(stop.signal);
      box.close();
    } catch (err) {
      if (err.name === 'AbortError') return;
      failure.replaceChildren(...errorText(err));
      refresh();
    } finally {
      form.removeAttribute('aria-busy');
    }
  });
  refresh();
  document.body.append(box);
  const before = document.activeElement;
  box.showModal();
  (form.querySelector('[autofocus]') || (label && !danger ? act : cancel)).focus();
  return new Promise((done) => {
    box.addEventListener('close', () => {
      stop.abort();
      box.remove();
      if (before?.isConnected) before.focus();
      done(outcome);
    });
  });
}

// errorText shows an error with its causes.
export function errorText(err) {
  const causes = (err.causes || []).filter((c) => c.message && !err.message.includes(c.message));
  return [h('p.bad', { title: err.code || '' }, err.message), causes.length > 0 && h('ul', causes.map((c) => h('li', c.field && [h('code', c.field), ' '], c.message)))].filter(Boolean);
}

// field is a labelled input of a dialog.
export const field = (label, input, hint) => h('label.field', h('span', label), input, hint && h('small', hint));
