// The log of a container, followed. The last MAX_LINES lines are kept.
import { h } from './dom.js';
import { objectPath, stream } from './api.js';
import { copyButton } from './copy.js';
import { kubectl } from './kubectl.js';
import { containers } from './containers.js';
import { LogText } from './logtext.js';
import { plural } from './format.js';

const SINCE = [['', 'the whole log'], ['60', '1 minute'], ['300', '5 minutes'], ['3600', '1 hour'], ['86400', '1 day']];

export function logsPart(about) {
  const text = new LogText();
  const container = h('select', { 'aria-label': 'Container', onchange: () => open() });
  const since = h('select', { 'aria-label': 'Since', onchange: () => open() }, SINCE.map(([value, title]) => h('option', { value }, title)));
  const previous = toggle('Previous', 'The log of the container before its last restart', () => open());
  const stamps = toggle('Times', 'The time of each line', () => open());
  const wrap = toggle('Wrap', 'Break long lines', (on) => text.el.classList.toggle('wrap', on));
  const pause = toggle('Pause', 'Keep what is shown; new lines are kept for later', (on) => text.pause(on));
  const search = h('input', { type: 'search', 'aria-label': 'Find in the log', placeholder: 'find', autocomplete: 'off', spellcheck: false, oninput: () => text.find(search.value) });
  const sum = h('span.dim', { role: 'status' });
  const command = h('code.command');
  const el = h('section.logs', { 'aria-label': 'Logs' },
    h('div.tools', container, since, previous, stamps, wrap, pause, search, copyButton(() => text.all(), 'Copy the log')), h('div.tools', sum, command, copyButton(() => command.textContent)), text.el);
  let pod = null;
  let reading = null;
  let run = ''; // the container's run that is read
  let state = '';

  search.addEventListener('keydown', (e) => {
    if (e.key !== 'Enter') return;
    text.next(e.shiftKey ? -1 : 1);
    e.preventDefault();
    e.stopPropagation();
  });
  text.changed = () => {
    const hits = search.value ? `, ${plural(text.hits, 'hit')}` : '';
    sum.textContent = `${plural(text.count, 'line')}${text.dropped ? `, ${text.dropped.toLocaleString()} earlier ones dropped` : ''}${hits}${text.waiting ? `, ${plural(text.waiting, 'new line')} since the pause` : ''} · ${state}`;
  };

  function say(what) {
    state = what;
    text.changed();
  }

  const on = (button) => button.getAttribute('aria-pressed') === 'true';

  async function open() {
    reading?.abort();
    reading = new AbortController();
    const { signal } = reading;
    text.clear();
    say('reading…');
    const c = container.value;
    run = runOf(pod, c);
    command.textContent = kubectl(about, 'logs', about.name, '-c', c, on(previous) ? '--previous' : '-f', on(stamps) && '--timestamps', since.value && `--since=${since.value}s`);
    const q = new URLSearchParams({ container: c, ...(on(previous) ? { previous: 'true' } : { follow: 'true' }), ...(on(stamps) && { timestamps: 'true' }), ...(since.value && { sinceSeconds: since.value }) });
    try {
      const body = await stream(`${objectPath({ base: '/api/v1', plural: 'pods', namespaced: true }, about.namespace, about.name)}/log?${q}`, signal);
      say(on(previous) ? 'of the run before' : 'following');
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text.add(value);
      }
      text.end();
      say('ended');
    } catch (err) {
      if (!signal.aborted) say(err.message);
    }
  }

  return {
    el,
    show(o) {
      const before = pod;
      pod = o || pod;
      if (!o) return;
      const names = containers(o);
      if (!before) {
        container.replaceChildren(...names.map((c) => h('option', { value: c.name }, c.label)));
        container.value = o.metadata.annotations?.['kubectl.kubernetes.io/default-container'] || o.spec.containers[0].name;
        open();
      } else if (!on(previous) && state !== 'following' && runOf(o, container.value) !== run) open(); // it has started, or started again
    },
    keydown(e) {
      const button = { w: wrap, p: pause }[e.key];
      button?.click();
      return Boolean(button);
    },
    destroy() {
      reading?.abort();
      text.destroy();
    },
  };
}

// runOf identifies a run of a container, '' if it has none.
function runOf(pod, name) {
  const s = pod.status || {};
  return [...(s.containerStatuses || []), ...(s.initContainerStatuses || []), ...(s.ephemeralContainerStatuses || [])].find((c) => c.name === name)?.containerID || '';
}

function toggle(title, hint, changed) {
  const b = h('button', {
    title: hint, 'aria-pressed': 'false',
    onclick: () => {
      const now = b.getAttribute('aria-pressed') !== 'true';
      b.setAttribute('aria-pressed', String(now));
      changed(now);
    },
  }, title);
  return b;
}
