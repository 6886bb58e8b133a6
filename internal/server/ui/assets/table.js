// The objects of a kind as the server's Table: read in pages, kept up to date by a watch, filtered by words and sorted.
import { collection, exactly } from './api.js';
import { listAndWatch, readPages } from './watch.js';
import { age } from './format.js';

const ACCEPT = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const MANY = 2000; // rows, from which the table is arranged less often

export class Table {
  // changed is called after the rows, the columns or the state have changed.
  constructor(changed) {
    this.changed = changed;
    this.reset();
  }

  reset() {
    this.rows = new Map(); // uid -> row
    this.shown = []; // the rows that match the words, sorted
    this.columns = []; // {name, i, type}; i is the cell's index
    this.state = 'reading'; // or live, still, again, failed
    this.message = '';
    this.begun = 0;
  }

  // open reads the objects that the selectors match: at a revision, or now and from then on.
  async open(r, { namespace, labels, fields, revision }) {
    this.close();
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.reset();
    this.wide = r.namespaced && !namespace;
    const query = { includeObject: 'Metadata', ...exactly(revision) };
    if (labels) query.labelSelector = labels;
    if (fields) query.fieldSelector = fields;
    const path = collection(r, namespace);
    const page = (list, first) => this.page(list, first);
    const state = (name, message = '') => {
      if (signal.aborted) return;
      this.state = name;
      this.message = message;
      this.later(true);
    };
    try {
      if (revision || !r.verbs.includes('watch')) {
        this.revision = await readPages(path, query, ACCEPT, page, signal);
        state('still');
      } else await listAndWatch(path, { query, accept: ACCEPT, page, change: (events) => this.change(events), state }, signal);
    } catch (err) {
      if (err.name === 'AbortError') return;
      if (!this.rows.size || err.code !== 405) state('failed', err.code === 410 ? `Revision ${revision} has been compacted: choose a later one.` : err.message);
      else state('still');
    }
  }

  page(list, first) {
    if (first) {
      this.rows = new Map();
      this.setColumns(list.columnDefinitions);
    }
    this.revision = list.metadata.resourceVersion;
    for (const r of list.rows || []) this.put(r);
    this.later(first);
  }

  setColumns(definitions) {
    const shown = definitions.map((c, i) => ({ name: c.name, type: c.type, i })).filter((c) => !definitions[c.i].priority);
    this.columns = this.wide ? [{ name: 'Namespace', i: -1 }, ...shown] : shown;
  }

  change(events) {
    for (const { type, object } of events) {
      for (const r of object.rows || []) {
        if (type === 'DELETED') this.rows.delete(r.object.metadata.uid);
        else this.put(r);
      }
    }
    this.later(false);
  }

  put({ cells, object: { metadata: m } }) {
    this.rows.set(m.uid, {
      uid: m.uid, namespace: m.namespace || '', name: m.name, cells, created: Date.parse(m.creationTimestamp), deleting: Boolean(m.deletionTimestamp),
      text: `${m.namespace || ''} ${cells.join(' ')}`.toLowerCase(),
    });
  }

  // arrangement sets the words and the order, a column's name with - before it for the reverse.
  arrangement(words, order) {
    this.words = words.toLowerCase().split(/\s+/).filter(Boolean);
    this.order = order;
    this.arrange();
  }

  // later arranges the rows with the next frame, or after a while if they are many.
  later(now) {
    if (this.due && !now) return;
    clearTimeout(this.due);
    this.due = setTimeout(() => this.arrange(), now ? 0 : this.rows.size > MANY ? 400 : 60);
  }

  arrange() {
    clearTimeout(this.due);
    this.due = 0;
    const { words = [], order = '' } = this;
    const fits = (r) => words.every((w) => (w.length > 1 && w.startsWith('-') ? !r.text.includes(w.slice(1)) : r.text.includes(w)));
    const down = order.startsWith('-');
    const column = this.columns.find((c) => c.name === order.replace(/^-/, ''));
    const found = [];
    for (const r of this.rows.values()) {
      if (!fits(r)) continue;
      r.rank ??= natural(`${r.namespace}/${r.name}`);
      found.push([column ? sortKey(r, column) : r.rank, r]);
    }
    const sign = down ? -1 : 1;
    found.sort(([a, r], [b, s]) => sign * compare(a, b) || compare(r.rank, s.rank));
    this.shown = found.map(([, r]) => r);
    this.changed();
  }

  close() {
    clearTimeout(this.due);
    this.due = 0;
    this.stop?.abort();
  }
}

// value is a cell's text. Ages are counted to the moment at, since the cells keep those of their printing.
export function value(row, column, at) {
  if (column.i < 0) return row.namespace;
  if (column.name === 'Age') return age(at - row.created);
  const v = row.cells[column.i];
  return v === null || v === undefined ? '' : String(v);
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// natural makes web-2 come before web-10.
const natural = (text) => text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, '0'));

function sortKey(row, column) {
  if (column.name === 'Age') return -row.created;
  const v = value(row, column, 0);
  if (column.type === 'integer' || column.type === 'number') return Number(v) || 0;
  return natural(v);
}
