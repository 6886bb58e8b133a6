// The search over everything: views, kinds, and the objects of all kinds, by words.
import { h } from './dom.js';
import { collection, resources } from './api.js';
import { readPages } from './watch.js';
import { eventAt } from './store.js';
import { browseAddress, kind, object, objectAddress, plural } from './format.js';

const MAX_OBJECTS = 5000; // of a kind that are read
const CONCURRENT = 4; // kinds that are read at once
const FRESH = 30e3; // ms that the read objects are kept
const SHOWN = 50;
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const UNSEARCHED = new Set(['events', 'events.events.k8s.io', 'leases.coordination.k8s.io']);

// index holds what can be found: {text, name, resource, namespace, href, what}.
let index = { at: 0, kinds: [], objects: [], cut: new Set(), reading: false };

// drawn is called after each kind that is read: by the dialog that is open, which may have been opened after the
// reading began.
let drawn = () => { };

// read fills the index.
async function read() {
  if (index.reading || Date.now() - index.at < FRESH) return;
  index.reading = true;
  try {
    await readAll();
  } finally {
    index.reading = false;
    drawn();
  }
}

async function readAll() {
  const fresh = { at: Date.now(), kinds: [], objects: [], cut: new Set(), reading: true };
  const all = await resources(true);
  fresh.kinds = [...all.values()].map((r) => ({ what: 'kind', name: r.key, words: [r.plural, r.kind.toLowerCase(), ...r.short], text: `${r.key} ${r.short.join(' ')}`, href: browseAddress(r.key) }));
  if (!index.objects.length) index = fresh;
  const left = [...all.values()].filter((r) => !UNSEARCHED.has(r.key));
  const stop = new AbortController();
  const one = async (r) => {
    let n = 0;
    const some = new AbortController();
    try {
      await readPages(collection(r, ''), {}, METADATA, (list) => {
        for (const { metadata: m } of list.items || []) {
          const about = { resource: r.key, namespace: m.namespace || '', name: m.name };
          fresh.objects.push({ what: kind(r.key), name: object(about), words: [r.plural, r.kind.toLowerCase(), ...r.short], text: `${r.key} ${object(about)}`.toLowerCase(), href: objectAddress(about) });
        }
        n += (list.items || []).length;
        if (n >= MAX_OBJECTS && list.metadata.continue) {
          fresh.cut.add(r.key);
          some.abort();
        }
      }, some.signal);
    } catch (err) {
      if (err.code === 401) stop.abort(); // other kinds may not be listed by the user
    }
    drawn();
  };
  await Promise.all(Array.from({ length: CONCURRENT }, async () => { while (left.length && !stop.signal.aborted) await one(left.shift()); }));
  index = fresh;
}

// rank returns the matches of the words, the best first. A word that is a kind's name or short name selects the kind.
export function rank(query, views, { kinds, objects }) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  const revision = /^\d+$/.test(query.trim()) && eventAt(Number(query));
  if (revision) found.push([9, { what: 'event', name: query.trim(), href: `#/events/${revision.revision}` }]);
  if (!words.length) return views.concat(kinds.filter((k) => /^(pods|deployments.apps|services|nodes|configmaps|jobs.batch)$/.test(k.name)));
  const score = (item, bonus) => {
    let sum = bonus;
    for (const w of words) {
      if (item.words?.includes(w)) sum += 3;
      else if (!item.text.includes(w)) return;
      else {
        const name = item.name.slice(item.name.lastIndexOf('/') + 1).toLowerCase();
        sum += name === w ? 4 : name.startsWith(w) ? 2 : name.includes(w) ? 1 : 0;
      }
    }
    found.push([sum, item]);
  };
  for (const v of views) score({ ...v, text: v.name.toLowerCase() }, 2);
  for (const k of kinds) score(k, 1);
  for (const o of objects) score(o, 0);
  found.sort(([a, x], [b, y]) => b - a || x.name.length - y.name.length || (x.name < y.name ? -1 : 1));
  return found.map(([, item]) => item);
}

// openSearch shows the search in a dialog; views are [name, title].
export function openSearch(dialog, tabs) {
  if (dialog.open) return;
  const views = tabs.map(([name, title]) => ({ what: 'view', name: title, href: `#/${name}` }));
  const list = h('ul', { id: 'found', role: 'listbox', 'aria-label': 'Found' });
  const more = h('p.dim', { role: 'status' });
  const input = h('input', { type: 'search', placeholder: 'Search objects, kinds and views', role: 'combobox', 'aria-label': 'Search', 'aria-controls': 'found', 'aria-expanded': 'true', autocomplete: 'off', spellcheck: false });
  let hits = [];
  let on = 0;
  let due = 0;

  function draw() {
    due = 0;
    hits = rank(input.value, views, index);
    on = Math.min(on, Math.max(0, Math.min(hits.length, SHOWN) - 1));
    list.replaceChildren(...hits.slice(0, SHOWN).map((item, i) => h('li', { id: `hit-${i}`, role: 'option', onclick: () => go(item) }, h('span.what', item.what), h('span.name', item.name))));
    more.textContent = [hits.length > SHOWN && `and ${(hits.length - SHOWN).toLocaleString()} more`, !hits.length && (index.reading ? '' : 'Nothing matches.'), index.reading && `reading… ${plural(index.objects.length, 'object')}`,
      index.cut.size && `only the first ${MAX_OBJECTS.toLocaleString()} ${[...index.cut].map(kind).join(', ')} are searched`].filter(Boolean).join(' · ');
    mark();
  }

  function mark() {
    [...list.children].forEach((li, i) => li.setAttribute('aria-selected', String(i === on)));
    list.children[on]?.scrollIntoView({ block: 'nearest' });
    if (list.children[on]) input.setAttribute('aria-activedescendant', `hit-${on}`); else input.removeAttribute('aria-activedescendant');
  }

  function go(item) {
    dialog.close();
    location.hash = item.href;
  }

  input.addEventListener('input', () => { on = 0; draw(); });
  input.addEventListener('keydown', (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by && list.children.length) {
      on = (on + by + list.children.length) % list.children.length;
      mark();
    } else if (e.key === 'Escape') dialog.close(); // which would only empty the field
    else if (e.key === 'Enter' && hits[on]) go(hits[on]);
    else return;
    e.preventDefault();
  });
  dialog.replaceChildren(input, list, more);
  dialog.showModal();
  input.focus();
  draw();
  drawn = () => { due ||= setTimeout(draw, 150); };
  read().catch((err) => { more.textContent = err.message; });
}
