// Deletion, and the eviction of pods.
import { h } from './dom.js';
import { objectPath, write } from './api.js';
import { confirm, field } from './dialog.js';
import { evict, evictionOf } from './eviction.js';
import { kubectl, target } from './kubectl.js';

const seconds = (input) => (input?.value ? Number(input.value) : undefined);
const whole = (input) => !input?.value || /^\d+$/.test(input.value);
const grace = (o) => h('input', { type: 'number', min: 0, step: 1, placeholder: o.spec.terminationGracePeriodSeconds ?? 30 });

const eviction = {
  name: 'evict',
  title: () => 'Evict…',
  applies: (o, r) => r.key === 'pods' && !o.metadata.deletionTimestamp,
  needs: (o, r, about) => [['create', r, about, 'eviction']],
  open(o, r, about) {
    const input = grace(o);
    return confirm({
      title: `Evict pod/${about.name}`, label: 'Evict', danger: true,
      content: [h('p', 'The pod is deleted, unless a PodDisruptionBudget forbids it.'), field('Grace period', input, 'seconds')],
      valid: () => whole(input),
      command: () => `echo '${JSON.stringify(evictionOf(o, { gracePeriodSeconds: seconds(input) }))}' | ${kubectl({}, 'create', '--raw', `${objectPath(r, about.namespace, about.name)}/eviction`, '-f', '-')}`,
      async run(signal) {
        const { trace, warnings } = await evict(o, { gracePeriodSeconds: seconds(input) }, signal);
        return { text: 'Evicted.', trace, warnings };
      },
    });
  },
};

const CASCADE = { Background: 'Its dependents are deleted after it.', Foreground: 'It stays until its dependents are deleted.', Orphan: 'Its dependents stay, without an owner.' };

const deletion = {
  name: 'delete',
  danger: true,
  title: () => 'Delete…',
  applies: (o, r) => r.verbs.includes('delete'),
  needs: (o, r, about) => [['delete', r, about]],
  open(o, r, about) {
    const effect = h('small', CASCADE.Background);
    const cascade = h('select', { onchange: () => { effect.textContent = CASCADE[cascade.value]; } }, Object.keys(CASCADE).map((c) => h('option', { value: c }, c)));
    const input = r.key === 'pods' && grace(o);
    const after = { namespaces: 'All objects in the namespace are deleted with it.', persistentvolumeclaims: 'Its volume may be deleted with its data.', customresourcedefinitions: 'All objects of this kind are deleted with it.' }[r.plural];
    return confirm({
      title: `Delete ${target(r, about.name)}`, label: 'Delete', danger: true,
      content: [h('p', o.metadata.deletionTimestamp ? `It is being deleted already${o.metadata.finalizers ? `, and waits for ${o.metadata.finalizers.join(', ')}` : ''}.` : 'It cannot be restored.', after && [' ', h('b', after)]),
        h('label.field', h('span', 'Dependents'), cascade, effect), input && field('Grace period', input, 'seconds; 0 removes the pod at once, while its containers may still run')],
      valid: () => whole(input),
      command: () => kubectl(about, 'delete', target(r, about.name), cascade.value !== 'Background' && `--cascade=${cascade.value.toLowerCase()}`, input?.value && `--grace-period=${input.value}`, input?.value === '0' && '--force'),
      async run() {
        const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: cascade.value, gracePeriodSeconds: seconds(input), preconditions: { uid: o.metadata.uid } };
        const { object, trace, warnings } = await write('DELETE', objectPath(r, about.namespace, about.name), { body });
        return { text: object.metadata?.deletionTimestamp ? 'It is being deleted.' : 'Deleted.', trace, warnings };
      },
    });
  },
};

export const removal = [eviction, deletion];
