// Trees of causes, read from the server.
import { lines, lives } from './api.js';
import { eventAt } from './store.js';
import { Tree, brief } from './forest.js';

// rootOf follows the causes up to the first event without a known cause.
export async function rootOf(revision, signal) {
  let at = revision;
  for (let steps = 0; steps < 200; steps++) {
    const e = eventAt(at) || (await lives({ from: at, to: at }, signal)).map((l) => ({ cause: l.causes ? l.causes[0] : 0 }))[0];
    if (!e) break;
    if (!e.cause || (!eventAt(e.cause) && !(await lives({ from: e.cause, to: e.cause }, signal)).length)) break;
    at = e.cause;
  }
  return at;
}

// readTree returns the tree below an event, undefined if the trace no longer has it.
export async function readTree(root, signal) {
  const briefs = [];
  await lines(`/debug/lives?tree=${root}`, (batch) => { for (const e of batch) briefs.push(brief(e)); }, signal);
  return briefs.length ? new Tree(root, briefs) : undefined;
}
