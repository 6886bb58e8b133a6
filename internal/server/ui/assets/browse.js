// The objects of a kind, now or at any revision of the history, with the chosen one beside them.
import { h } from './dom.js';
import { find, json, resources } from './api.js';
import { address } from './address.js';
import { List } from './list.js';
import { Table, value } from './table.js';
import { groupKinds } from './kinds.js';
import { events, indexAt } from './store.js';
import { timeBar } from './timebar.js';
import { objectPanel } from './object.js';
import { thenPanel } from './then.js';
import { browseAddress, object, plural, tone } from './format.js';
import { clusterTime } from './time.js';

const MEASURED = 100; // rows that give the columns their widths
const filterKeys = ['namespace', 'words', 'labels', 'fields', 'sort', 'at', 'of', 'part'];

export function browseView() {
  let args = {};
  let reading = ''; // what the table holds
  let beside = ''; // what the panel shows
  let panel = null;
  let known = new Map();
  const kinds = h('nav.kinds', { 'aria-label': 'Kinds' });
  const kind = h('select.kind', { 'aria-label': 'Kind', onchange: () => go({ ...none, resource: kind.value, namespace: args.namespace, at: args.at }) });
  const names = h('datalist', { id: 'namespaces' });
  const field = (label, name, more) => h('input', { 'aria-label': label, placeholder: label.toLowerCase(), autocomplete: 'off', spellcheck: false, onchange: (e) => go({ [name]: e.target.value.trim() }), ...more });
  const inputs = {
    namespace: field('All namespaces', 'namespace', { list: 'namespaces', 'aria-label': 'Namespace' }),
    words: field('Words', 'words', { type: 'search', onchange: null, oninput: () => go({ words: inputs.words.value.trim() }, true) }),
    labels: field('Labels', 'labels', { title: 'A label selector: app=web,tier!=db' }),
    fields: field('Fields', 'fields', { title: 'A field selector: status.phase=Running' }),
  };
  const count = h('span.count.dim', { role: 'status' });
  const heads = h('div.row.heads.cells');
  const side = h('section.side', { 'aria-label': 'The object' });
  const time = timeBar((revision) => go({ at: revision ? String(revision) : '' }, true), (e) => e.resource === args.resource && (!args.namespace || e.namespace === args.namespace) && (!args.of || object(e) === args.of));
  const table = new Table(draw);
  const list = new List({
    label: 'Objects', count: () => table.shown.length, key: (i) => table.shown[i].uid, draw: (i) => row(table.shown[i]),
    choose: (i) => { if (args.of) choose(table.shown[i]); }, open: (i) => choose(table.shown[i]),
  });
  const log = h('section.log', h('div.bar', kind, inputs.namespace, names, inputs.words, inputs.labels, inputs.fields, count), heads, list.el, time.el);
  const el = h('div.browse', kinds, h('div.split', log, side));
  const split = el.lastChild;
  const none = Object.fromEntries(filterKeys.map((k) => [k, '']));

  function go(change, replace) {
    const { resource, ...filter } = { ...args, ...change };
    const to = browseAddress(resource, filter);
    if (to === location.hash) return;
    if (replace) {
      history.replaceState({ shown: true }, '', to);
      dispatchEvent(new HashChangeEvent('hashchange'));
    } else location.hash = to;
  }

  function choose(r) {
    go({ of: object(r), part: args.of ? args.part : '' }, Boolean(args.of));
  }

  // moment is the time of the shown state.
  function moment() {
    const e = args.at && events[Math.min(indexAt(Number(args.at) + 1) - 1, events.length - 1)];
    return e ? e.began : clusterTime();
  }

  function row(r) {
    const at = moment();
    return h('div.row.cells', { id: `o${r.uid}`, className: r.deleting ? 'row cells deleting' : 'row cells' }, table.columns.map((c) => {
      const text = value(r, c, at);
      const t = tone(c.name, text);
      return h('span', { title: text, className: c.name === 'Age' ? 'age' : t && `tone ${t}` }, text);
    }));
  }

  function draw() {
    const chosen = table.shown.find((r) => object(r) === args.of);
    if (chosen) list.selected = chosen.uid;
    drawHeads();
    list.redraw();
    const all = table.rows.size;
    const many = `${table.shown.length === all ? '' : `${table.shown.length.toLocaleString()} of `}${plural(all, 'object')}`;
    const doing = { reading: all ? ', reading…' : '', again: `. ${table.message}`, still: args.at ? ` at revision ${args.at}` : '', failed: '' }[table.state] ?? '';
    count.className = table.state === 'failed' ? 'count bad' : 'count dim';
    count.textContent = table.state === 'failed' ? table.message : table.state === 'reading' && !all ? 'reading…' : `${many}${doing}`;
  }

  // width gives a column a share of the room by the longest of its first texts.
  function width(c) {
    if (c.name === 'Age') return '4.4rem';
    const longest = Math.max(c.name.length, ...table.shown.slice(0, MEASURED).map((r) => value(r, c, 0).length));
    return `minmax(${Math.min(longest + 2, 12)}ch, ${Math.min(Math.max(longest, 5), 44)}fr)`;
  }

  let headed = '';
  function drawHeads() {
    const key = JSON.stringify([table.columns, args.sort, Math.min(table.shown.length, MEASURED)]);
    if (key === headed) return;
    headed = key;
    const widths = table.columns.map((c) => width(c));
    el.style.setProperty('--columns', widths.join(' '));
    el.style.setProperty('--first-columns', widths.slice(0, 4).join(' ')); // of a narrow screen
    heads.replaceChildren(...table.columns.map((c) => {
      const way = args.sort === c.name ? 1 : args.sort === `-${c.name}` ? -1 : 0;
      return h('span', h('button.sort', { title: `Sort by ${c.name}`, 'aria-pressed': String(way !== 0), onclick: () => go({ sort: way ? (way > 0 ? `-${c.name}` : '') : c.name }, true) },
        c.name, way ? h('span', { 'aria-label': way > 0 ? 'ascending' : 'descending' }, way > 0 ? ' ↑' : ' ↓') : ''));
    }));
  }

  async function read() {
    const { resource, namespace, labels, fields, at } = args;
    const key = JSON.stringify([resource, namespace, labels, fields, at]);
    if (key === reading) return false;
    reading = key;
    try {
      const r = await find(resource);
      if (reading === key) table.open(r, { namespace, labels, fields, revision: Number(at) || 0 });
    } catch (err) {
      table.close();
      table.reset();
      Object.assign(table, { state: 'failed', message: err.message });
      draw();
    }
    return true;
  }

  function showBeside() {
    split.classList.toggle('beside', Boolean(args.of));
    el.classList.toggle('beside', Boolean(args.of));
    const now = JSON.stringify([args.resource, args.of, args.at]);
    if (now !== beside) {
      panel?.destroy();
      panel = null;
      beside = now;
      side.replaceChildren();
      if (!args.of) return;
      const [name, namespace = ''] = args.of.split('/').reverse();
      const about = { resource: args.resource, namespace, name };
      const close = () => go({ of: '', part: '' });
      panel = args.at ? thenPanel(about, Number(args.at), close) : objectPanel(about, { close, link: (part) => browseAddress(args.resource, { ...args, resource: '', part }) });
      side.replaceChildren(panel.el);
    }
    panel?.update?.(args.part);
  }

  resources().then((all) => {
    known = all;
    const groups = groupKinds(all);
    kind.replaceChildren(...groups.map(([group, of]) => h('optgroup', { label: group }, of.map((r) => h('option', { value: r.key }, r.key)))));
    kinds.replaceChildren(...groups.map(([group, of]) => h('details', { open: group !== 'Cluster' && group !== 'Access' && group !== 'Storage' }, h('summary', group),
      of.map((r) => h('a', { href: browseAddress(r.key), 'data-kind': r.key, title: r.key }, r.plural)))));
    mark();
  }, (err) => { count.textContent = err.message; });
  json('/api/v1/namespaces?limit=500', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io').then((l) => {
    names.replaceChildren(...l.items.map((o) => h('option', { value: o.metadata.name })));
  }, () => { /* the user may not list namespaces, but may name one */ });

  // mark shows which kind is listed, and keeps the namespace in the links to the others.
  function mark() {
    kind.value = args.resource;
    for (const a of kinds.querySelectorAll('a')) {
      const r = known.get(a.dataset.kind);
      a.href = browseAddress(a.dataset.kind, { namespace: r.namespaced ? args.namespace : '', at: args.at });
      if (a.dataset.kind !== args.resource) a.removeAttribute('aria-current');
      else {
        a.setAttribute('aria-current', 'true');
        a.parentElement.open = true;
      }
    }
    const r = known.get(args.resource);
    inputs.namespace.hidden = Boolean(r) && !r.namespaced;
  }

  const tick = setInterval(() => {
    if (args.at) return;
    const i = table.columns.findIndex((c) => c.name === 'Age');
    if (i < 0) return;
    for (const [n, one] of list.rows) {
      const cell = one.children[i];
      const text = value(table.shown[n], table.columns[i], clusterTime());
      if (cell.textContent !== text) cell.textContent = cell.title = text;
    }
  }, 1000);

  return {
    el,
    title: () => `${args.of || args.resource}${args.at ? ` at ${args.at}` : ''}`,
    update([resource]) {
      const { query } = address();
      args = { resource: resource || 'pods' };
      for (const key of filterKeys) args[key] = query.get(key) || '';
      for (const [key, input] of Object.entries(inputs)) if (input !== document.activeElement) input.value = args[key];
      mark();
      time.show(Number(args.at) || 0);
      read();
      table.arrangement(args.words, args.sort);
      showBeside();
    },
    keydown(e) {
      if (panel?.keydown?.(e)) return true;
      if (e.key === 'h' || e.key === 'ArrowLeft') time.step(-1);
      else if (e.key === 'l' || e.key === 'ArrowRight') time.step(1);
      else if (e.key === 'Escape' && (args.of || args.words)) go(args.of ? { of: '', part: '' } : { words: '' });
      else return list.keydown(e);
      return true;
    },
    destroy() {
      clearInterval(tick);
      table.close();
      time.destroy();
      panel?.destroy();
      list.destroy();
    },
  };
}
