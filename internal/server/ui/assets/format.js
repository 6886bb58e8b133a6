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
