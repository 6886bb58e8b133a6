// Draining a node: cordon it, then evict its pods and wait until they have ended.
import { h } from './dom.js';
import { find, json, objectPath, patch } from './api.js';
import { confirm } from './dialog.js';
import { evict } from './eviction.js';
import { kubectl } from './kubectl.js';
import { readPages } from './watch.js';
import { object, objectAddress, plural } from './format.js';

const AGAIN = 2000; // ms until a blocked eviction is tried again
const LOOK = 500; // ms between two looks at an evicted pod
const CONCURRENT = 8;

const MIRROR = 'kubernetes.io/config.mirror';
const ended = (pod) => ['Succeeded', 'Failed'].includes(pod.status?.phase);
const controller = (pod) => (pod.metadata.ownerReferences || []).find((ref) => ref.controller);

// sort divides a node's pods into those to evict and those that stay, each of these with the reason.
export function sort(pods) {
  const out = { evicted: [], left: [] };
  for (const pod of pods) {
    if (pod.metadata.annotations?.[MIRROR]) out.left.push([pod, 'a static pod of the node']);
    else if (controller(pod)?.kind === 'DaemonSet' && !ended(pod)) out.left.push([pod, 'of a DaemonSet']);
    else out.evicted.push(pod);
  }
  return out;
}

const pause = (ms, signal) => new Promise((done, fail) => {
  const t = setTimeout(done, ms);
  signal.addEventListener('abort', () => { clearTimeout(t); fail(new DOMException('cancelled', 'AbortError')); }, { once: true });
});

// gone waits until a pod has ended.
async function gone(r, pod, signal) {
  const { namespace, name, uid } = pod.metadata;
  for (;;) {
    try {
      const now = await json(objectPath(r, namespace, name), undefined, signal);
      if (now.metadata.uid !== uid) return;
    } catch (err) {
      if (err.code === 404) return;
      throw err;
    }
    await pause(LOOK, signal);
  }
}

// leave evicts one pod, as often as it takes, and waits until it is gone; say(text, blocked) reports its state. It returns the trace ID of the eviction.
async function leave(r, pod, say, signal) {
  for (;;) {
    try {
      say('evicting…');
      const { trace } = await evict(pod, {}, signal);
      say('terminating…');
      await gone(r, pod, signal);
      return trace;
    } catch (err) {
      if (err.code === 404) return undefined;
      if (err.code !== 429) throw err;
      const why = err.causes.find((c) => c.reason === 'DisruptionBudget')?.message;
      say(why ? `blocked: ${why}` : `blocked: ${err.message}`, true);
      await pause(AGAIN, signal);
    }
  }
}

// Leaving shows the pods that are evicted, and evicts them.
class Leaving {
  constructor(r, pods) {
    Object.assign(this, { r, pods, gone: 0, blocked: new Set(), failed: 0 });
    this.bar = h('progress', { max: pods.length || 1, value: 0, 'aria-label': 'Evicted pods' });
    this.sum = h('p', { role: 'status' });
    this.states = new Map(pods.map((pod) => [pod, h('span.dim')]));
    this.el = h('div', this.bar, this.sum, pods.length ? h('ul.leaving', { 'aria-label': 'Pods to evict' }, pods.map((pod) => h('li', link(pod), this.states.get(pod)))) : h('p.dim', 'It has no pods to evict.'));
  }

  get text() { return `${this.gone} of ${plural(this.pods.length, 'pod')} gone`; }

  say(pod, text, bad, blocked) {
    if (blocked) this.blocked.add(pod); else this.blocked.delete(pod);
    const state = this.states.get(pod);
    state.className = bad ? 'bad' : 'dim';
    state.textContent = text;
    this.bar.value = this.gone;
    this.sum.textContent = `${this.text}${this.blocked.size ? `, ${this.blocked.size} blocked` : ''}`;
  }

  // evict returns the outcome of the first eviction; an error if pods could not be evicted.
  async evict(signal) {
    Object.assign(this, { gone: 0, failed: 0 });
    const waiting = [...this.pods];
    let first;
    const some = async () => {
      while (waiting.length) {
        const pod = waiting.shift();
        const trace = await this.one(pod, signal);
        if (trace) first ||= { trace, about: { resource: 'pods', namespace: pod.metadata.namespace, name: pod.metadata.name } };
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, some));
    if (this.failed) throw new Error(`${plural(this.failed, 'pod')} could not be evicted.`);
    return first;
  }

  async one(pod, signal) {
    try {
      const trace = await leave(this.r, pod, (text, blocked) => this.say(pod, text, blocked, blocked), signal);
      this.gone++;
      this.say(pod, 'gone');
      return trace;
    } catch (err) {
      if (err.name === 'AbortError') throw err;
      this.failed++;
      this.say(pod, err.message, true);
      return undefined;
    }
  }
}

const link = (pod) => h('a', { href: objectAddress({ resource: 'pods', ...pod.metadata }), target: '_blank' }, object(pod.metadata));

// warnings are what a drain destroys for good.
function warnings(bare, local) {
  return [bare > 0 && h('p.bad', `${plural(bare, 'pod')} of no controller will not come back.`), local > 0 && h('p.retried', `${plural(local, 'pod')} will lose the data of emptyDir volumes.`)];
}

const core = { group: '', version: 'v1', plural: 'pods' };

export const drain = {
  name: 'drain',
  danger: true,
  title: () => 'Drain…',
  applies: (o, r) => r.key === 'nodes',
  needs: (o, r, about) => [['patch', r, about], ['list', core, {}], ['get', core, {}], ['create', core, {}, 'eviction']],
  async open(o, r, about) {
    const pods = await find('pods');
    const found = [];
    await readPages(`${pods.base}/pods`, { fieldSelector: `spec.nodeName=${about.name}` }, 'application/json', (list) => found.push(...(list.items || [])), new AbortController().signal);
    const { evicted, left } = sort(found);
    const bare = evicted.filter((pod) => !controller(pod) && !ended(pod)).length;
    const local = evicted.filter((pod) => (pod.spec.volumes || []).some((v) => v.emptyDir)).length;
    const leaving = new Leaving(pods, evicted);
    let begun = false;
    const result = await confirm({
      title: `Drain node/${about.name}`, label: 'Drain', danger: true,
      content: [h('p', 'The node is cordoned, then its pods are evicted. PodDisruptionBudgets are respected: a blocked eviction is tried again until it succeeds, or you cancel.'),
        warnings(bare, local), leaving.el,
        left.length > 0 && h('details', h('summary', plural(left.length, 'pod stays', 'pods stay')), h('ul.leaving', left.map(([pod, why]) => h('li', link(pod), h('span.dim', why)))))],
      command: () => kubectl({}, 'drain', about.name, '--ignore-daemonsets', local && '--delete-emptydir-data', bare && '--force'),
      async run(signal) {
        begun = true;
        const cordon = o.spec.unschedulable ? undefined : await patch(objectPath(r, '', about.name), { spec: { unschedulable: true } });
        const first = await leaving.evict(signal);
        return { text: `Drained: ${plural(evicted.length, 'pod')} evicted.`, ...(cordon || first) };
      },
    });
    return result || (begun ? { text: `Cancelled: ${leaving.text}. The node stays cordoned.` } : undefined);
  },
};
