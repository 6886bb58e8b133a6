// The conditions of kubectl wait, and the advance of a virtual clock until an object meets one.
import { RequestError, collection, json, request } from './api.js';
import { find, parsePath, textOf } from './jsonpath.js';
import { milliseconds } from './goduration.js';

const CLOCK = '/debug/clock';

// parseUntil returns a function that reports whether an object, undefined if it does not exist, meets a condition:
// create, delete, condition=TYPE[=STATUS] or jsonpath=EXPRESSION[=VALUE]. It returns undefined for another text.
export function parseUntil(text) {
  if (text === 'create') return (o) => Boolean(o);
  if (text === 'delete') return (o) => !o;
  const condition = /^condition=([^=]+)(?:=(.+))?$/.exec(text);
  if (condition) return (o) => hasCondition(o, condition[1], condition[2] || 'True');
  const path = /^jsonpath=(\{.*\})(?:=(.+))?$/s.exec(text);
  const steps = path ? parsePath(path[1]) : undefined;
  return steps && ((o) => Boolean(o) && find(steps, o).some((v) => path[2] === undefined || textOf(v) === path[2]));
}

// hasCondition ignores a condition of an older generation.
function hasCondition(o, type, status) {
  const same = (a, b) => String(a).toLowerCase() === b.toLowerCase();
  const found = (o?.status?.conditions || []).find((c) => same(c.type, type));
  return Boolean(found) && !(found.observedGeneration < o.metadata.generation) && same(found.status, status);
}

export const state = (signal) => json(CLOCK, 'application/json', signal);

// advance moves the clock by ms, or until the first event of a watch. The end of signal stops the clock where it is.
export async function advance(ms, signal, watch) {
  const body = JSON.stringify({ by: `${Math.round(ms * 1e6)}ns`, watch });
  return (await request(CLOCK, { method: 'POST', signal, body, headers: { 'Content-Type': 'application/json' } })).json();
}

// run advances the clock until an object meets a condition, by limit ms at most. It returns how far, in ms.
export async function run(r, { namespace, name }, met, limit, signal) {
  let passed = 0;
  for (;;) {
    const q = { fieldSelector: `metadata.name=${name}` };
    const list = await json(`${collection(r, namespace)}?${new URLSearchParams(q)}`, 'application/json', signal);
    if (met(list.items?.[0])) return passed;
    if (passed >= limit) throw new RequestError(0, 'The object does not meet the condition within the limit.');
    const watch = `${collection(r, namespace)}?${new URLSearchParams({ ...q, watch: true, resourceVersion: list.metadata.resourceVersion })}`;
    try {
      passed += milliseconds((await advance(limit - passed, signal, watch)).advanced);
    } catch (err) {
      if (err.code !== 410) throw err; // else the list is read again
    }
  }
}
