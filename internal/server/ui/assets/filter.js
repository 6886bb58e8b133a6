// The filter of the events, as the address has it: all values are text, '' for no restriction.
import { action } from './format.js';

export const EMPTY = {
  show: '', // 'trees' for the first causes of others only, each with its whole tree; '' for all events
  text: '', kind: '', namespace: '', user: '', verb: '', controller: '', outcome: '', heartbeats: '',
  last: '', from: '', to: '', // the time: the last while (1m), or from and to in ms since 1970
  min: '', max: '', // durations: 50ms
  sort: '',
};

// The restrictions that the panel of filters has; the others have controls of their own.
export const PANEL = ['user', 'verb', 'controller', 'outcome', 'min', 'max'];

export const RANGES = { '1m': 60e3, '5m': 300e3, '15m': 900e3 };

export const OUTCOMES = { trouble: 'errors or conflicts', failed: 'errors', conflict: 'conflicts', waits: 'not sent to all yet' };

const UNITS = { ns: 1, µs: 1e3, us: 1e3, ms: 1e6, s: 1e9, m: 60e9, min: 60e9, h: 3600e9 };

// parseDuration returns nanoseconds for texts such as 50ms, 1.5 s or 250 (ms); NaN for others.
export function parseDuration(text) {
  const hit = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*(ns|µs|us|ms|s|m|min|h)?\s*$/.exec(text);
  return hit ? Number(hit[1]) * UNITS[hit[2] || 'ms'] : NaN;
}

// Of an event or, if trees are shown, of the tree that it is the root of.
export const took = (e, trees) => (trees ? e.tree.took : e.took);
export const outcomeOf = (e, trees) => (trees ? e.tree.outcome : e.outcome);
export const waits = (e, trees) => (trees ? e.tree.waiting : e.waiting) > 0;

// matcher returns a function that reports whether an event passes. A window of time that moves, filter.last, is left to
// the caller.
export function matcher(filter) {
  const trees = filter.show === 'trees';
  const words = filter.text.toLowerCase().split(/\s+/).filter((w) => w && w !== '-');
  const no = words.filter((w) => w[0] === '-').map((w) => w.slice(1));
  const yes = words.filter((w) => w[0] !== '-');
  const number = (text, missing) => (text === '' || Number.isNaN(Number(text)) ? missing : Number(text));
  const limit = (text, missing) => (Number.isNaN(parseDuration(text)) ? missing : parseDuration(text));
  const [from, to] = [number(filter.from, -Infinity), number(filter.to, Infinity)];
  const [min, max] = [limit(filter.min, 0), limit(filter.max, Infinity)];
  const result = {
    '': () => true, failed: (e) => outcomeOf(e, trees) === 'failed', conflict: (e) => outcomeOf(e, trees) === 'conflict',
    trouble: (e) => outcomeOf(e, trees) !== '', waits: (e) => waits(e, trees),
  }[filter.outcome] || (() => true);
  return (e) => (!trees || (!e.cause && e.effects > 0)) && (!e.heartbeat || filter.heartbeats)
    && (!filter.kind || e.resource === filter.kind) && (!filter.namespace || e.namespace === filter.namespace)
    && (!filter.user || e.user === filter.user) && (!filter.verb || e.verb === filter.verb || action(e) === filter.verb)
    && (!filter.controller || e.controllers.includes(filter.controller))
    && e.began >= from && e.began <= to && took(e, trees) >= min && took(e, trees) <= max && result(e)
    && yes.every((w) => e.text.includes(w)) && !no.some((w) => e.text.includes(w));
}

// The orders of the list: '' is the newest first, and a - before a name reverses its order.
const orders = { time: (e) => e.began, took: (e, trees) => took(e, trees), effects: (e) => e.effects };

// sorted returns events, which are in the order of time, in the order of the filter.
export function sorted(events, filter) {
  const way = filter.sort.startsWith('-') ? -1 : 1;
  const value = orders[filter.sort.replace(/^-/, '')];
  if (!value) return [...events].reverse();
  const trees = filter.show === 'trees';
  return events.map((e) => [value(e, trees), e]).sort(([a, x], [b, y]) => way * (a - b) || y.revision - x.revision).map(([, e]) => e);
}
