// Rollouts: restart, pause, resume, and the way back to an earlier revision.
import { h } from './dom.js';
import { objectPath, patch } from './api.js';
import { confirm } from './dialog.js';
import { kubectl, target } from './kubectl.js';
import { revisions } from './revisions.js';
import { changes } from './diff.js';
import { changesTable } from './changes.js';

const STRATEGIC = 'application/strategic-merge-patch+json';
const ROLLS = new Set(['deployments.apps', 'statefulsets.apps', 'daemonsets.apps']);

const path = (r, about) => objectPath(r, about.namespace, about.name);
const mayPatch = (o, r, about) => [['patch', r, about]];

const restart = {
  name: 'restart',
  title: () => 'Restart…',
  applies: (o, r) => ROLLS.has(r.key) && !o.spec.paused,
  needs: mayPatch,
  open: (o, r, about) => confirm({
    title: `Restart ${target(r, about.name)}`, label: 'Restart',
    content: h('p', 'An annotation of the pod template changes, so that the pods are replaced, as its update strategy allows.'),
    command: () => kubectl(about, 'rollout', 'restart', target(r, about.name)),
    async run() {
      const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString().replace(/\.\d+/, '') };
      const { trace, warnings } = await patch(path(r, about), { spec: { template: { metadata: { annotations } } } }, STRATEGIC);
      return { text: 'Restarted.', trace, warnings };
    },
  }),
};

const pause = {
  name: 'pause',
  title: (o) => (o.spec.paused ? 'Resume…' : 'Pause…'),
  applies: (o, r) => r.key === 'deployments.apps',
  needs: mayPatch,
  open(o, r, about) {
    const paused = !o.spec.paused;
    return confirm({
      title: `${paused ? 'Pause' : 'Resume'} ${target(r, about.name)}`, label: paused ? 'Pause' : 'Resume',
      content: h('p', paused ? 'Changes of the pod template do not roll out until it is resumed. Scaling still works.' : 'Changes of the pod template since the pause roll out.'),
      command: () => kubectl(about, 'rollout', paused ? 'pause' : 'resume', target(r, about.name)),
      async run() {
        const { trace, warnings } = await patch(path(r, about), { spec: { paused } });
        return { text: paused ? 'Paused.' : 'Resumed.', trace, warnings };
      },
    });
  },
};

const undo = {
  name: 'undo',
  title: () => 'Roll back…',
  applies: (o, r) => ROLLS.has(r.key) && !o.spec.paused,
  needs: mayPatch,
  async open(o, r, about) {
    const list = await revisions(o, r, about);
    const past = list.filter((v) => !v.current);
    const preview = h('div.preview', { 'aria-live': 'polite' });
    let chosen = past[0];
    const choose = (v) => {
      chosen = v;
      preview.replaceChildren(changesTable(changes({ template: o.spec.template }, { template: v.template })));
    };
    const row = (v) => h('li', h('label', h('input', { type: 'radio', name: 'revision', value: v.number, checked: v === chosen, disabled: v.current, oninput: () => choose(v) }),
      h('b', v.number), h('span.images', v.images.join(', ')), h('span.dim', v.current ? 'the present one' : v.note)));
    if (chosen) choose(chosen);
    return confirm({
      title: `Roll back ${target(r, about.name)}`, label: chosen && 'Roll back',
      content: [past.length ? h('ul.revisions', { 'aria-label': 'Revisions' }, list.map(row)) : h('p', 'It has no earlier revision.'), chosen && [h('h3', 'What changes in the pod template'), preview]],
      command: chosen && (() => kubectl(about, 'rollout', 'undo', target(r, about.name), `--to-revision=${chosen.number}`)),
      async run() {
        const { trace, warnings } = await patch(path(r, about), chosen.patch, chosen.type);
        return { text: `Rolled back to revision ${chosen.number}.`, trace, warnings };
      },
    });
  },
};

export const rolloutActions = [restart, undo, pause];
