// Reads maps of objects and their relations, again after events.
import { json } from './api.js';
import { listeners, state } from './store.js';

const SOON = 400; // ms from an event to the next reading
const SHARE = 10; // the time between two readings, as a multiple of the time of one
const OFTEN = 10000; // ms between readings while there are no events

// followMap reads the map of a query {namespace, resource, name, steps} and calls show(map) with each new state, and failed(err)
// with errors; it ends by destroy.
export function followMap(query, { show, failed }) {
  const stop = new AbortController();
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  let due = 0;
  let reading = false;
  let stale = false; // since the present reading began
  let rest = 0; // when the next reading may begin
  let before = '';

  async function read() {
    due = 0;
    stale = false;
    reading = true;
    const begun = performance.now();
    try {
      const res = await json(`/debug/map?${parameters}`, 'application/json', stop.signal);
      const text = JSON.stringify(res);
      if (text !== before) show(res);
      before = text;
    } catch (err) {
      if (err.name === 'AbortError' || err.code === 401) return;
      before = '';
      failed(err);
      stale ||= !err.code; // the server does not answer
    } finally {
      reading = false;
    }
    const now = performance.now();
    rest = now + Math.max(SOON, SHARE * (now - begun));
    if (stale) again(SOON);
  }

  function again(ms) {
    if (reading) stale = true;
    else if (!due && !stop.signal.aborted) due = setTimeout(read, Math.max(ms, rest - performance.now()));
  }

  const concerns = (e) => !e.heartbeat && !e.resource.startsWith('leases') && (!e.namespace || !query.namespace || e.namespace === query.namespace);
  const onEvents = (fresh) => { if (fresh.some(concerns)) again(SOON); };
  const tick = setInterval(() => { if (state.live !== 'live') again(0); }, OFTEN);
  listeners.add(onEvents);
  read();
  return {
    destroy() {
      stop.abort();
      clearTimeout(due);
      clearInterval(tick);
      listeners.delete(onEvents);
    },
  };
}
