// Formats of times and names.
import { h } from './dom.js';

// span formats a duration in nanoseconds.
export function span(ns) {
  const ms = ns / 1e6;
  if (ms === 0) return '0';
  if (ms < 0.995) return `${(ns / 1e3).toFixed(ms < 0.00995 ? 1 : 0)} µs`;
  if (ms < 99.5) return `${ms.toPrecision(3)} ms`;
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  if (ms < 59950) return `${(ms / 1e3).toPrecision(3)} s`;
  if (ms < 3600e3) return `${(ms / 60e3).toFixed(1)} min`;
  return `${(ms / 3600e3).toFixed(1)} h`;
}

const two = (n) => String(n).padStart(2, '0');

// clock formats a time of day with milliseconds; at is in milliseconds.
export function clock(at) {
  const d = new Date(at);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, '0')}`;
}

// exact formats a time with its date and zone.
export function exact(at) {
  const d = new Date(at);
  const east = -d.getTimezoneOffset();
  const zone = `${east < 0 ? '−' : '+'}${two(Math.floor(Math.abs(east) / 60))}:${two(Math.abs(east) % 60)}`;
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clock(at)} ${zone}`;
}

// moment shows a time of day, with the date and zone in its tooltip.
export const moment = (at) => h('time', { title: exact(at), dateTime: new Date(at).toISOString() }, clock(at));

// nanoseconds formats a duration without rounding.
export const nanoseconds = (ns) => `${Math.round(ns).toLocaleString()} ns`;

// shortUser removes the prefixes of Kubernetes' own users.
export function shortUser(user) {
  return (user || 'the server').replace(/^system:serviceaccount:kube-system:/, '').replace(/^system:/, '');
}

export const object = (e) => (e.namespace ? `${e.namespace}/${e.name}` : e.name || '');

// kind is a resource without its group.
export const kind = (resource) => (resource || '').split('.')[0];

// action is an event's verb and subresource: "patch scale".
export const action = (e) => (e.verb ? e.verb + (e.subresource ? ` ${e.subresource}` : '') : 'written');

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString()} ${n === 1 ? one : many}`;

// objectAddress is the address of the page about an event's object.
export const objectAddress = (e) => `#/object/${[e.resource, e.namespace || '-', e.name].map(encodeURIComponent).join('/')}`;

// age formats a duration in milliseconds as kubectl does.
export function age(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [m, hours, days] = [60, 3600, 86400].map((unit) => Math.floor(s / unit));
  const and = (n, unit) => (n ? `${n}${unit}` : '');
  if (s < 120) return `${s}s`;
  if (m < 10) return `${m}m${and(s % 60, 's')}`;
  if (m < 180) return `${m}m`;
  if (hours < 8) return `${hours}h${and(m % 60, 'm')}`;
  if (hours < 48) return `${hours}h`;
  if (days < 8) return `${days}d${and(hours % 24, 'h')}`;
  if (days < 730) return `${days}d`;
  return `${Math.floor(days / 365)}y${days < 8 * 365 ? and(days % 365, 'd') : ''}`;
}

const WELL = /^(running|ready|bound|active|available|true|complete|completed|succeeded|approved(,issued)?|healthy|established|deployed)$/i;
const UNDER_WAY = /^(pending|containercreating|podinitializing|terminating|init:\d+\/\d+|released|notready|schedulinggated|suspended|unknown|progressing|.*schedulingdisabled|failedscheduling)$/i;
const ILL = /(error|backoff|failed|evicted|oomkilled|lost|denied|invalid|errimage|deadlineexceeded|^warning$|^false$)/i;

// tone is the meaning of a cell's text in a column of states: well, busy or ill; '' elsewhere.
export function tone(column, text) {
  if (/^(status|phase|state|available|ready|type|reason|condition)$/i.test(column)) {
    const part = /^(\d+)\/(\d+)$/.exec(text);
    if (part) return part[1] === part[2] ? '' : 'busy';
    if (WELL.test(text)) return 'well';
    if (UNDER_WAY.test(text)) return 'busy';
    if (ILL.test(text)) return 'ill';
  }
  return '';
}

// browseAddress is the address of a list of objects: of a kind, with filters.
export const browseAddress = (resource, filter = {}) => {
  const query = new URLSearchParams(Object.entries(filter).filter(([, v]) => v));
  return `#/browse/${encodeURIComponent(resource)}${[...query.keys()].length ? `?${query}` : ''}`;
};

// mapAddress is the address of a map: of a namespace, or around an object.
export const mapAddress = (of) => `#/map?${new URLSearchParams(Object.entries(of).filter(([, v]) => v))}`;
