// The raw data of events: copied, or saved as a file.
import { h } from './dom.js';
import { text } from './api.js';

// rawMenu offers the data of the events that parameters() selects in /debug/lives; name is the file's.
export function rawMenu(name, parameters) {
  const said = h('span.dim', { role: 'status' });
  const path = (more) => `/debug/lives?${new URLSearchParams({ ...parameters(), ...more })}`;
  const action = (title, run) => h('button', {
    onclick: async () => {
      said.textContent = '…';
      try {
        said.textContent = await run();
      } catch (err) {
        said.textContent = err.message;
      }
    },
  }, title);
  const box = h('details.raw', h('summary', 'Raw data'), h('div.tools',
    action('Copy JSON', async () => {
      await navigator.clipboard.writeText(await text(path()));
      return 'Copied.';
    }),
    action('Save JSON', async () => save(`${name}.jsonl`, 'application/jsonl', await text(path()))),
    action('Save OTLP', async () => save(`${name}.otlp.json`, 'application/json', await text(path({ output: 'otlp' })))), said));
  return box;
}

function save(name, type, data) {
  const href = URL.createObjectURL(new Blob([data], { type }));
  h('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10e3);
  return `Saved as ${name}.`;
}
