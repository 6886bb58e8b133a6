// Samples of the server's counters, taken while the page is open.
import { text } from './api.js';

const PERIOD = 5000; // ms
const KEPT = 720; // an hour

export const samples = []; // {at, requests, cpu, memory}

// sums adds up the samples of metrics, of all their labels.
export function sums(metrics, names) {
  const found = Object.fromEntries(names.map((n) => [n, 0]));
  for (const line of metrics.split('\n')) {
    const end = line.search(/[{ ]/);
    const name = line.slice(0, end);
    if (name in found) found[name] += Number(line.slice(line.lastIndexOf(' ') + 1)) || 0;
  }
  return found;
}

const names = { requests: 'apiserver_request_total', cpu: 'process_cpu_seconds_total', memory: 'process_resident_memory_bytes' };

// sample takes samples until the session ends, or forever if the user may not read metrics.
export async function sample() {
  for (;;) {
    if (document.visibilityState === 'visible') {
      try {
        const found = sums(await text('/metrics'), Object.values(names));
        samples.push({ at: Date.now(), ...Object.fromEntries(Object.entries(names).map(([k, n]) => [k, found[n]])) });
        if (samples.length > KEPT) samples.shift();
        dispatchEvent(new Event('sampled'));
      } catch (err) {
        if (err.code === 401 || err.code === 403 || err.code === 404) return;
      }
    }
    await new Promise((done) => { setTimeout(done, PERIOD); });
  }
}

// rate is the increase per second of a counter between samples; the server's restart is no increase.
export function rate(name) {
  const out = [];
  for (let i = 1; i < samples.length; i++) {
    const [a, b] = [samples[i - 1], samples[i]];
    if (b[name] >= a[name]) out.push({ at: b.at, values: [((b[name] - a[name]) * 1000) / (b.at - a.at)] });
  }
  return out;
}
