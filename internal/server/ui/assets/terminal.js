// A terminal in a container of a pod.
import { h } from './dom.js';
import { json, objectPath } from './api.js';
import { containers } from './containers.js';
import { copyButton } from './copy.js';
import { exec } from './exec.js';
import { kubectl } from './kubectl.js';
import { Screen } from './screen.js';
import { code } from './keys.js';

const SHELL = 'sh';

export function terminalPart(about) {
  const container = h('select', { 'aria-label': 'Container', onchange: () => tell() });
  const command = h('input', { 'aria-label': 'Command', value: SHELL, autocomplete: 'off', spellcheck: false, oninput: () => tell() });
  const button = h('button.primary', { onclick: () => (session ? session.close() : open()) }, 'Connect');
  const sum = h('span.dim', { role: 'status' });
  const equivalent = h('code.command');
  const above = h('div.above');
  const lines = h('div.lines');
  // The keys go to a text area, by which pasting and keyboards of phones work too.
  const keys = h('textarea.keys', { 'aria-label': 'Terminal; Shift-Tab leaves it', spellcheck: false, autocomplete: 'off' });
  keys.setAttribute('autocapitalize', 'off');
  const face = h('div.terminal', { onclick: () => { if (getSelection().isCollapsed) keys.focus({ preventScroll: true }); } }, above, lines, keys);
  const measure = h('span.measure', 'x'.repeat(100));
  const el = h('section', { 'aria-label': 'Terminal' }, h('div.tools', container, command, button, sum), h('div.tools', h('span.dim', 'Shift-Tab leaves the terminal'), equivalent, copyButton(() => equivalent.textContent)), face);
  let session = null;
  let screen = new Screen(24, 80);
  let due = 0;
  let entered = false; // by the key that is down

  const words = () => command.value.trim().split(/\s+/);

  function tell() {
    equivalent.textContent = kubectl(about, 'exec', '-it', about.name, '-c', container.value, '--', ...words());
  }

  function size() {
    face.append(measure);
    const box = measure.getBoundingClientRect();
    measure.remove();
    const style = getComputedStyle(face);
    const inner = face.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const tall = face.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
    return [Math.max(4, Math.floor(tall / box.height)), Math.max(20, Math.floor(inner / (box.width / 100)))];
  }

  function fit() {
    if (!face.isConnected || !face.clientWidth) return;
    const [rows, columns] = size();
    if (rows === screen.rows && columns === screen.columns) return;
    screen.resize(rows, columns);
    session?.resize(rows, columns);
    later();
  }

  function later() {
    due ||= requestAnimationFrame(draw);
  }

  const line = (cells, cursor) => h('div', screen.spans(cells, cursor).map((s) => (s.look ? h('span', { className: s.look }, s.text) : s.text)));

  function draw() {
    due = 0;
    above.append(...screen.above.splice(0).map((l) => line(l)));
    while (above.childElementCount > 2000) above.firstChild.remove();
    lines.replaceChildren(...screen.lines.map((l, i) => line(l, session && screen.visible && i === screen.row ? screen.column : -1)));
    face.scrollTop = face.scrollHeight;
  }

  function open() {
    screen = new Screen(...size());
    above.replaceChildren();
    const decoder = new TextDecoder();
    button.textContent = 'Disconnect';
    sum.className = 'dim';
    sum.textContent = 'connecting…';
    face.classList.add('open');
    session = exec(about, container.value, words(), {
      opened() {
        sum.textContent = 'connected';
        session.resize(screen.rows, screen.columns);
        keys.focus({ preventScroll: true });
      },
      output(bytes) {
        screen.write(decoder.decode(bytes, { stream: true }));
        if (screen.answers) session.type(screen.answers);
        screen.answers = '';
        later();
      },
      ended,
    });
    later();
  }

  async function ended(message) {
    session = null;
    button.textContent = 'Connect';
    face.classList.remove('open');
    later();
    if (document.activeElement === keys) button.focus();
    sum.className = message === '' ? 'dim' : 'bad';
    sum.textContent = message === '' ? 'ended' : message ?? await reason();
  }

  // reason asks by a request why the server has refused the WebSocket, since a browser does not say.
  async function reason() {
    try {
      const q = new URLSearchParams({ container: container.value, command: SHELL, stdout: 'true' });
      await json(`${objectPath({ base: '/api/v1', plural: 'pods', namespaced: true }, about.namespace, about.name)}/exec?${q}`);
    } catch (err) {
      return err.code === 400 && /upgrade/i.test(err.message) ? 'the server has closed the connection' : err.message;
    }
    return 'the server has closed the connection';
  }

  keys.addEventListener('keydown', (e) => {
    if (e.key === 'Tab' && e.shiftKey) {
      e.stopPropagation();
      return; // the browser moves the focus
    }
    if ((e.ctrlKey && e.shiftKey) || e.metaKey || (e.ctrlKey && e.key === 'v')) return; // the browser's copy and paste
    if (e.ctrlKey && e.key === 'c' && !getSelection().isCollapsed) return;
    const text = code(e, screen.application);
    if (text === undefined) return;
    entered = e.key === 'Enter';
    session?.type(text);
    e.preventDefault();
    e.stopPropagation();
  });
  // A keyboard of a phone enters a line break without a key.
  keys.addEventListener('beforeinput', (e) => {
    if (e.inputType !== 'insertLineBreak') return;
    e.preventDefault();
    if (!entered) session?.type('\r');
  });
  keys.addEventListener('keyup', () => { entered = false; });
  keys.addEventListener('input', (e) => {
    if (e.isComposing) return;
    session?.type(keys.value);
    keys.value = '';
  });
  keys.addEventListener('compositionend', () => {
    session?.type(keys.value);
    keys.value = '';
  });
  keys.addEventListener('paste', (e) => {
    const text = e.clipboardData.getData('text').replace(/\r?\n/g, '\r');
    session?.type(screen.bracketed ? `\x1b[200~${text}\x1b[201~` : text);
    e.preventDefault();
  });
  const watcher = new ResizeObserver(fit);
  watcher.observe(face);

  return {
    el,
    show(o) {
      if (!o || container.childElementCount) return;
      container.replaceChildren(...containers(o).map((c) => h('option', { value: c.name, disabled: !c.running }, c.label)));
      container.value = o.metadata.annotations?.['kubectl.kubernetes.io/default-container'] || o.spec.containers[0].name;
      tell();
      later();
    },
    destroy() {
      watcher.disconnect();
      cancelAnimationFrame(due);
      session?.close();
    },
  };
}
