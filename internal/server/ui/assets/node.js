// Nodes: cordon, uncordon and drain.
import { h } from './dom.js';
import { objectPath, patch } from './api.js';
import { confirm } from './dialog.js';
import { drain } from './drain.js';
import { kubectl } from './kubectl.js';

const cordon = {
  name: 'cordon',
  title: (o) => (o.spec.unschedulable ? 'Uncordon…' : 'Cordon…'),
  applies: (o, r) => r.key === 'nodes',
  needs: (o, r, about) => [['patch', r, about]],
  open(o, r, about) {
    const to = !o.spec.unschedulable;
    return confirm({
      title: `${to ? 'Cordon' : 'Uncordon'} node/${about.name}`, label: to ? 'Cordon' : 'Uncordon',
      content: h('p', to ? 'No more pods are scheduled to this node. Its pods stay.' : 'Pods are scheduled to this node again.'),
      command: () => kubectl({}, to ? 'cordon' : 'uncordon', about.name),
      async run() {
        const { trace, warnings } = await patch(objectPath(r, '', about.name), { spec: { unschedulable: to || null } });
        return { text: to ? 'Cordoned.' : 'Uncordoned.', trace, warnings };
      },
    });
  },
};

export const nodeActions = [cordon, drain];
