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

// leave evicts one pod, as often as it takes; say(text, blocked) reports its state.
async function leave(r, pod, say, signal) {
  for (;;) {
    try {
      say('evicting…');
      await evict(pod, {}, signal);
      say('terminating…');
      await gone(r, pod, signal);
      say('gone');
      return;
    } catch (err) {
      if (err.code === 404) {
        say('gone');
        return;
      }
      if (err.code !== 429) throw err;
      const why = err.causes.find((c) => c.reason === 'DisruptionBudget')?.message;
      say(why ? `blocked: ${why}` : `blocked: ${err.message}`, true);
      await pause(AGAIN, signal);
    }
  }
}

export const drain = {
  name: 'drain',
  danger: true,
  title: () => 'Drain…',
  applies: (o, r) => r.key === 'nodes',
  needs: (o, r, about) => [['patch', r, about], ['list', { group: '', version: 'v1', plural: 'pods' }, {}], ['create', { group: '', version: 'v1', plural: 'pods' }, {}, 'eviction']],
  async open(o, r, about) {
    const pods = await find('pods');
    const found = [];
    await readPages(pods.base + '/pods', { fieldSelector: `spec.nodeName=${about.name}` }, 'application/json', (list) => found.push(...(list.items || [])), new AbortController().signal);
    const { evicted, left } = sort(found);
    const bare = evicted.filter((pod) => !controller(pod) && !ended(pod));
    const local = evicted.filter((pod) => (pod.spec.volumes || []).some((v) => v.emptyDir));
    const bar = h('progress', { max: evicted.length || 1, value: 0, 'aria-label': 'Evicted pods' });
    const sum = h('p', { role: 'status' });
    const states = new Map(evicted.map((pod) => [pod, h('span.dim')]));
    const name = (pod) => h('a', { href: objectAddress({ resource: 'pods', ...pod.metadata }), target: '_blank' }, object(pod.metadata));
    let done = 0;

    const run = async (signal) => {
      const { trace, warnings } = await patch(objectPath(r, '', about.name), { spec: { unschedulable: true } });
      const waiting = [...evicted];
      const blocked = new Set();
      const draw = () => {
        bar.value = done;
        sum.textContent = `${done} of ${plural(evicted.length, 'pod')} gone${blocked.size ? `, ${blocked.size} blocked` : ''}`;
      };
      const one = async () => {
        while (waiting.length) {
          const pod = waiting.shift();
          const state = states.get(pod);
          await leave(pods, pod, (text, isBlocked) => {
            if (isBlocked) blocked.add(pod); else blocked.delete(pod);
            state.className = isBlocked ? 'bad' : 'dim';
            state.textContent = text;
            draw();
          }, signal);
          done++;
          draw();
        }
      };
      draw();
      await Promise.all(Array.from({ length: CONCURRENT }, one));
      return { text: `Drained: ${plural(evicted.length, 'pod')} evicted.`, trace, warnings };
    };

    const result = await confirm({
      title: `Drain node/${about.name}`, label: 'Drain', danger: true,
      content: [h('p', 'The node is cordoned, then its pods are evicted. PodDisruptionBudgets are respected: a blocked eviction is tried again until it succeeds, or you cancel.'),
        bare.length > 0 && h('p.bad', `${plural(bare.length, 'pod')} of no controller will not come back.`),
        local.length > 0 && h('p.retried', `${plural(local.length, 'pod')} will lose the data of emptyDir volumes.`),
        bar, sum, evicted.length ? h('ul.leaving', { 'aria-label': 'Pods to evict' }, evicted.map((pod) => h('li', name(pod), states.get(pod)))) : h('p.dim', 'It has no pods to evict.'),
        left.length > 0 && h('details', h('summary', `${plural(left.length, 'pod')} stay`), h('ul.leaving', left.map(([pod, why]) => h('li', name(pod), h('span.dim', why)))))],
      command: () => kubectl({}, 'drain', about.name, '--ignore-daemonsets', local.length && '--delete-emptydir-data', bare.length && '--force'),
      run,
    });
    return result || (done ? { text: `Cancelled: ${done} of ${plural(evicted.length, 'pod')} gone. The node stays cordoned.` } : undefined);
  },
};
