// The states of an object that the server keeps, from /debug/history.
import { json } from './api.js';

const PAGE = 1000; // the server's limit
const MAX_STATES = 5000; // in memory

async function page(about, parameters, signal) {
  const q = new URLSearchParams({ resource: about.resource, namespace: about.namespace || '', name: about.name, ...parameters });
  return json(`/debug/history?${q}`, 'application/json', signal);
}

const decoded = (s) => ({ ...s, at: s.time ? Date.parse(s.time) : NaN, since: s.after ? Date.parse(s.after) : NaN });

// pastOf reads states and keeps them: list has them without objects, the newest first.
export function pastOf(about, signal) {
  const objects = new Map(); // revision -> object, null of a deletion
  let filling = Promise.resolve(); // one request after the other
  const past = { list: [], compacted: 0, withheld: '', more: false, read, load, each };

  // read reads the states that are newer than those in the list, or all.
  async function read() {
    const known = past.list[0]?.revision || 0;
    const fresh = [];
    for (let before = 0; ;) {
      const p = await page(about, { objects: false, limit: known ? 100 : PAGE, ...(before && { before }) }, signal);
      for (const s of p.states) {
        if (s.revision <= known) break;
        fresh.push(decoded(s));
      }
      before = p.before || 0;
      const met = known && p.states.some((s) => s.revision <= known);
      if (!met) Object.assign(past, { compacted: p.compacted || 0, withheld: p.withheld || '', more: Boolean(before) });
      if (!before || met || fresh.length >= MAX_STATES) break;
    }
    past.list = [...fresh, ...past.list].slice(0, MAX_STATES);
    return fresh.length;
  }

  // load returns the object of a state; undefined of a deletion. Its request reads the states before it too.
  async function load(revision) {
    if (!objects.has(revision)) {
      filling = filling.catch(() => {}).then(() => objects.has(revision) || fill(revision));
      await filling;
    }
    return objects.get(revision) || undefined;
  }

  async function fill(revision, limit = 20) {
    const p = await page(about, { before: revision + 1, limit }, signal);
    for (const s of p.states) objects.set(s.revision, s.object || null);
    if (!objects.has(revision)) objects.set(revision, null);
    return p;
  }

  // each calls f with states and their objects, the newest first, until f returns false.
  async function each(f) {
    for (let before = past.list[0]?.revision; before;) {
      const p = await fill(before, 100);
      for (const s of p.states) if (!f(decoded(s), s.object)) return;
      before = p.before ? p.before - 1 : 0;
    }
  }
  return past;
}

// byControlPlane reports whether a part of the control plane made the state, as `fairlead undo` has it.
export function byControlPlane(s) {
  if (s.recorded) return !s.verb || /^system:(serviceaccount:kube-system:|kube-|node:|apiserver)/.test(s.user || '');
  const managers = s.managers || [];
  return managers.length > 0 && managers.every((m) => m.endsWith('-controller') || ['fairlead', 'kube-controller-manager', 'kube-scheduler', 'kubelet'].includes(m));
}

// deed is what a state's write did: "patch scale".
export const deed = (s) => (s.verb ? s.verb + (s.subresource ? ` ${s.subresource}` : '') : { ADDED: 'created', MODIFIED: 'changed', DELETED: 'deleted' }[s.type]);
