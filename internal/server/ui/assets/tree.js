// The tree of causes that contains an event, from its first cause down: over time, or as statistics.
import { h } from './dom.js';
import { yieldToBrowser } from './api.js';
import { listeners } from './store.js';
import { criticalPath, spent, steps } from './critical.js';
import { Shapes, isGroup, rows } from './fold.js';
import { Minimap } from './minimap.js';
import { Waterfall, key } from './waterfall.js';
import { statTable } from './stattable.js';
import { readTree, rootOf } from './treeread.js';
import { moment, plural, span } from './format.js';

const shown = { folding: true, critical: true, statistics: false }; // kept for the next tree

export function treePane(revision) {
  const stop = new AbortController();
  const shapes = new Shapes();
  const closed = new Set(); // revisions whose effects are hidden
  const open = new Set(); // keys of groups whose members are shown
  let tree;
  let path = [];
  let root = 0;
  let revisions = new Set(); // of all nodes
  let due = 0;
  let cost = 0; // ms of the last reading
  const sum = h('p.dim', 'reading…');
  const where = h('p.spent');
  const fall = new Waterfall({
    open: (n) => { location.hash = `#/events/${n.revision}/tree`; }, toggle, isOpen, zoomed: (window) => map.show(window),
  });
  const map = new Minimap({ look: (window) => fall.look(window) });
  const stats = statTable();
  fall.list.selected = revision;
  const switches = {
    folding: button('Fold equal', 'Equal subtrees as one row (f)', () => flip('folding')),
    critical: button('Critical path', 'The chain of causes that ends last (x)', () => flip('critical')),
    statistics: button('Statistics', 'Durations by kind, verb, user and controller (s)', () => flip('statistics')),
  };
  const compare = h('a.button', 'Compare…');
  const zooms = h('span.zoom', { role: 'group', 'aria-label': 'Zoom' }, [['−', 'Zoom out (-)', '-'], ['All', 'All of the time (0)', '0'], ['+', 'Zoom in (+)', '+']].map(([text, title, press]) => h('button', { title, 'aria-label': title, onclick: () => fall.keydown({ key: press }) }, text)));
  const tools = h('div.tools', Object.values(switches), compare, zooms);
  const el = h('div.tree', sum, tools, where, map.el, fall.el, stats.el);

  function button(text, title, onclick) { return h('button', { title, onclick }, text); }

  function flip(what) {
    shown[what] = !shown[what];
    draw();
  }

  async function read() {
    due = 0;
    const begun = performance.now();
    try {
      root ||= await rootOf(revision, stop.signal);
      const next = await readTree(root, stop.signal);
      if (stop.signal.aborted) return;
      if (!next) {
        sum.textContent = 'The trace no longer has this event.';
        return;
      }
      await take(next);
    } catch (err) {
      if (err.name !== 'AbortError') sum.textContent = err.message;
    }
    cost = performance.now() - begun;
  }

  // take shows a tree. It yields between the parts of the work on a large one.
  async function take(next) {
    await yieldToBrowser();
    shapes.mark(next);
    await yieldToBrowser();
    if (stop.signal.aborted) return;
    const first = !tree;
    tree = next;
    path = criticalPath(tree);
    revisions = new Set(tree.nodes.map((n) => n.revision));
    const effects = tree.nodes.length - 1;
    sum.replaceChildren(effects ? `${plural(effects, 'event')} caused by ` : 'No other event is caused by ', h('a', { href: `#/events/${root}/tree` }, root), effects ? `, in ${span(tree.total * 1e6)}` : '', ' · ', moment(tree.root.began));
    compare.href = `#/compare/${root}`;
    if (first) reveal();
    draw();
    const i = fall.list.index();
    if (first && i >= 0) fall.list.select(i);
  }

  // reveal opens the groups above the event of the address.
  function reveal() {
    for (let n = tree.find(revision); n?.parent; n = n.parent) {
      const { parent } = n;
      const group = rows({ root: parent }, { closed: new Set(), open: new Set(), folding: true }).find((r) => isGroup(r) && r.parent === parent && r.members.includes(n));
      if (group) open.add(group.key);
    }
  }

  function draw() {
    for (const [name, b] of Object.entries(switches)) b.setAttribute('aria-pressed', String(shown[name]));
    if (!tree) return;
    const seen = shown.critical ? path : [];
    stats.el.hidden = !shown.statistics;
    fall.el.hidden = map.el.hidden = zooms.hidden = shown.statistics;
    where.hidden = !shown.critical || shown.statistics || path.length < 2;
    const sums = spent(path);
    where.replaceChildren(h('span.dim', `The critical path, ${plural(path.length, 'event')}: `), ...Object.keys(steps).filter((s) => sums[s] > 0).map((s) => h('span.share', h(`i.dot.step.${s}`), `${span(sums[s] * 1e6)} ${steps[s]}`)));
    if (shown.statistics) stats.set(tree);
    fall.set(rows(tree, { closed, open, folding: shown.folding }), tree, seen);
    map.set(tree, seen);
  }

  function isOpen(row) {
    return isGroup(row) ? open.has(row.key) : row.kids.length > 0 && !closed.has(row.revision);
  }

  function toggle(row) {
    if (!isGroup(row) && !row.kids.length) return;
    const [set, id] = isGroup(row) ? [open, row.key] : [closed, row.revision];
    if (!set.delete(id)) set.add(id);
    fall.list.selected = key(row);
    draw();
  }

  const onEvents = (fresh) => {
    // A large tree is read again at longer intervals.
    if (!due && root && fresh.some((e) => e.cause && revisions.has(e.cause))) due = setTimeout(read, Math.max(500, 4 * cost));
  };
  listeners.add(onEvents);
  draw();
  read();
  return {
    el,
    root: () => root || revision,
    keydown(e) {
      if (e.key === 'f') flip('folding');
      else if (e.key === 'x') flip('critical');
      else if (e.key === 's') flip('statistics');
      else if (e.key === 'd') location.hash = compare.getAttribute('href') || location.hash;
      else return map.keydown(e) || fall.keydown(e);
      return true;
    },
    destroy() {
      clearTimeout(due);
      listeners.delete(onEvents);
      map.destroy();
      fall.destroy();
      stop.abort();
    },
  };
}
