// The first view: what is not well and why, what is in progress, how full the nodes are, and the server's load over time.
import { h } from './dom.js';
import { json } from './api.js';
import { clusterTime } from './time.js';
import { events, listeners } from './store.js';
import { quantile } from './stats.js';
import { Plot } from './plot.js';
import { rate, samples } from './samples.js';
import { kind, objectAddress, plural, span } from './format.js';

const RANGES = [['5 min', 300e3], ['15 min', 900e3], ['1 h', 3600e3]];
const MAX_NODES = 24;
const MAX_CHIPS = 8;
const MAX_ROLLOUTS = 12;

let range = RANGES[0][1]; // of the plots; kept when one leaves the view

export function overviewView() {
  const stop = new AbortController();
  let due = 0;
  let drawn = 0;
  let before = '';
  const health = h('section.health', { role: 'status' }, h('h2', 'reading…'));
  const problems = h('section.problems', { 'aria-label': 'Problems' });
  const progress = h('section.rollouts', { 'aria-label': 'In progress' });
  const nodes = h('section.fill', { 'aria-label': 'Nodes' });
  const count = (v) => (v < 10 && v % 1 ? v.toFixed(1) : Math.round(v).toLocaleString());
  const plots = {
    writes: new Plot({ title: 'Writes per second', lines: [{ name: 'writes', className: 'a' }], format: count }),
    delivery: new Plot({ title: 'From the request to the last watcher', lines: [{ name: 'p50', className: 'a' }, { name: 'p99', className: 'b' }], format: span }),
    requests: new Plot({ title: 'Requests per second', lines: [{ name: 'requests', className: 'a' }], format: count }),
    cpu: new Plot({ title: 'CPU of the server', lines: [{ name: 'cores', className: 'a' }], format: (v) => `${Math.round(v * 100)} %` }),
    memory: new Plot({ title: 'Memory of the server', lines: [{ name: 'resident', className: 'a' }], format: (v) => `${Math.round(v)} MiB` }),
  };
  const choose = h('div.ranges', { role: 'group', 'aria-label': 'Time range' }, RANGES.map(([name, ms]) => h('button', {
    onclick: () => { range = ms; mark(); draw(); }, 'data-ms': ms,
  }, name)));
  const el = h('div.overview', health, problems, progress, nodes, h('div.over', h('h2', 'Load'), choose), h('div.plots', Object.values(plots).map((p) => p.el)));

  function mark() {
    for (const b of choose.children) b.setAttribute('aria-pressed', Number(b.getAttribute('data-ms')) === range);
  }

  async function read() {
    due = 0;
    const begun = performance.now();
    try {
      const s = await json('/debug/why', 'application/json', stop.signal);
      const text = JSON.stringify(s);
      if (text !== before) show(s);
      before = text;
    } catch (err) {
      if (err.name === 'AbortError' || err.code === 401) return;
      before = '';
      health.className = 'health';
      health.replaceChildren(h('h2', err.code === 403 ? 'You may not read what is not well.' : 'What is not well is not known.'), h('p.dim', err.message));
    }
    // A survey of a large cluster costs the server more, and so is rarer.
    later(Math.max(5000, 20 * (performance.now() - begun)));
  }

  function later(ms) {
    if (!due && !stop.signal.aborted) due = setTimeout(read, ms);
  }

  function show(s) {
    const moving = (s.rollouts || []).length + (s.progress || []).reduce((n, p) => n + p.objects.length, 0);
    health.className = s.problems.length ? 'health ill' : 'health well';
    health.replaceChildren(
      h('h2', s.problems.length ? `${plural(s.problems.length, 'problem')}` : 'All is well'),
      h('p.dim', [plural(s.objects, 'object'), s.nodes && plural(s.nodes.length, 'node'), moving ? `${moving} in progress` : 'nothing in progress'].filter(Boolean).join(' · ')),
      ...(s.forbidden ? [h('p.dim', `Not looked at, because you may not list them: ${s.forbidden.join(', ')}`)] : []));
    problems.replaceChildren(...s.problems.map(problem));
    const rollouts = (s.rollouts || []).slice(0, MAX_ROLLOUTS);
    progress.replaceChildren(h('h2', 'In progress'), ...rollouts.map(rollout));
    progress.hidden = !rollouts.length;
    fill(s.nodes || []);
  }

  function draw() {
    drawn = 0;
    const to = clusterTime();
    const from = to - range;
    const step = Math.max(1000, range / 120);
    const writes = new Map();
    for (let i = events.length - 1; i >= 0 && events[i].began >= from; i--) {
      const at = Math.floor(events[i].began / step);
      if (!writes.has(at)) writes.set(at, []);
      writes.get(at).push(events[i].sent);
    }
    const first = events.length ? Math.max(from, events[0].began) : to;
    const perSecond = [];
    const delivery = [];
    for (let at = Math.floor(first / step); at * step < to; at++) {
      const ms = Math.min((at + 1) * step, to) - Math.max(at * step, first);
      if (ms < 1000) continue; // the ends are too short for a rate
      const sent = writes.get(at) || [];
      perSecond.push({ at: Math.min((at + 0.5) * step, to), values: [(sent.length * 1000) / ms] });
      const reached = sent.filter(Boolean);
      if (reached.length) delivery.push({ at: Math.min((at + 0.5) * step, to), values: [quantile(reached, 0.5), quantile(reached, 0.99)] });
    }
    const here = Date.now(); // the samples have the browser's times
    const within = (points) => points.filter((p) => p.at >= here - range);
    plots.writes.set(perSecond, from, to);
    plots.delivery.set(delivery, from, to);
    plots.requests.set(within(rate('requests')), here - range, here);
    plots.cpu.set(within(rate('cpu')), here - range, here);
    plots.memory.set(within(samples.map((p) => ({ at: p.at, values: [p.memory / 2 ** 20] }))), here - range, here);
    for (const name of ['requests', 'cpu', 'memory']) plots[name].el.hidden = !samples.length;
  }

  function fill(all) {
    nodes.hidden = !all.length;
    const total = (name) => all.reduce((n, one) => n + one[name], 0);
    const bar = (have, most, title, text) => h('div.meter', { title }, h('span.name', text), gauge(most ? have / most : 0));
    const short = (v) => v.toLocaleString(undefined, { maximumFractionDigits: 1 });
    const resources = [['pods', 'maxPods', (v) => v.toLocaleString(), ''], ['cpu', 'maxCPU', (v) => short(v / 1000), ' cores'], ['memory', 'maxMemory', (v) => short(v / 2 ** 30), ' GiB']];
    nodes.replaceChildren(h('h2', 'Nodes'),
      h('div.meters', resources.map(([have, most, write, unit]) => bar(total(have), total(most), `${have} requested of all nodes`, [h('b', title(have)), ` ${write(total(have))} of ${write(total(most))}${unit}`]))),
      h('div.nodes', all.slice(0, MAX_NODES).map((n) => h('a.machine', { href: objectAddress({ resource: 'nodes', name: n.name }), title: `${n.name}: ${resources.map(([have, most, write, unit]) => `${title(have)} ${write(n[have])} of ${write(n[most])}${unit}`).join(', ')}` },
        h('span.clip', n.name, !n.ready && h('b.bad', ' not ready')), resources.map(([have, most]) => [h('small', title(have)), gauge(n[most] ? n[have] / n[most] : 0)]))),
      all.length > MAX_NODES && h('p.dim', `The ${MAX_NODES} fullest of ${all.length.toLocaleString()} nodes.`)));
  }

  const onEvents = () => {
    drawn ||= setTimeout(draw, 1000);
    if (due && before) { // what is not well may have changed
      clearTimeout(due);
      due = 0;
      later(1500);
    }
  };
  const tick = setInterval(() => { drawn ||= setTimeout(draw, 0); }, 5000);
  listeners.add(onEvents);
  mark();
  read();
  draw();
  return {
    el,
    update() {},
    destroy() {
      stop.abort();
      clearTimeout(due);
      clearTimeout(drawn);
      clearInterval(tick);
      listeners.delete(onEvents);
    },
  };
}

// gauge is a bar that is filled to a fraction; from nine tenths on it is amber.
function gauge(fraction) {
  const percent = Math.round(Math.min(1, fraction) * 100);
  const bar = h('i');
  bar.style.width = `${percent}%`;
  return h(`span.gauge${fraction >= 0.9 ? '.full' : ''}`, { role: 'meter', 'aria-valuemin': '0', 'aria-valuemax': '100', 'aria-valuenow': String(percent), 'aria-label': 'fill' }, bar);
}

const title = (resource) => (resource === 'cpu' ? 'CPU' : resource);

// about is the object of a path in a cause: NAMESPACE/NAME, or NAME.
function about(resource, path) {
  const [namespace, name] = path.includes('/') ? path.split('/') : ['', path];
  return { resource, namespace, name };
}

function problem(p) {
  const first = about(p.resource, p.objects[0]);
  const many = p.objects.length > 1;
  return h('article.problem', h('h3', h('a', { href: objectAddress(first) }, many ? `${p.objects.length.toLocaleString()} ${p.kind.toLowerCase()}s` : `${p.kind} ${p.objects[0]}`), ' ', h('span', p.text)),
    p.affects && h('p.chips', h('span.dim', 'affects '), p.affects.slice(0, MAX_CHIPS).map((a) => h('a.chip', { href: objectAddress(a), title: a.resource }, h('small', `${a.kind} `), a.namespace ? `${a.namespace}/${a.name}` : a.name)),
      p.affects.length > MAX_CHIPS && h('span.dim', ` and ${p.affects.length - MAX_CHIPS} more`)),
    p.next && h('p.next', h('span.dim', 'next '), /^kubectl |: kubectl /.test(p.next) ? command(p.next) : p.next));
}

// command marks the command in a suggestion.
function command(text) {
  const at = text.indexOf('kubectl ');
  return [text.slice(0, at), h('code', text.slice(at))];
}

function rollout(r) {
  return h('a.rollout', { href: objectAddress(r) }, h('span.clip', h('small', `${kind(r.resource).replace(/s$/, '')} `), r.namespace ? `${r.namespace}/${r.name}` : r.name), gauge(r.want ? r.done / r.want : 0),
    h('span.num', `${r.done.toLocaleString()} of ${r.want.toLocaleString()}`));
}
