// Scaling by the scale subresource.
import { h } from './dom.js';
import { json, objectPath, patch } from './api.js';
import { confirm, field } from './dialog.js';
import { kubectl, target } from './kubectl.js';
import { plural } from './format.js';

export const scale = {
  name: 'scale',
  title: () => 'Scale…',
  applies: (o, r) => r.subresources.includes('scale'),
  needs: (o, r, about) => [['get', r, about, 'scale'], ['patch', r, about, 'scale']],
  async open(o, r, about) {
    const path = `${objectPath(r, about.namespace, about.name)}/scale`;
    const now = (await json(path)).spec.replicas || 0;
    const input = h('input', { type: 'number', min: 0, step: 1, value: now, required: true, autofocus: true });
    const many = () => Number(input.value);
    return confirm({
      title: `Scale ${target(r, about.name)}`, label: 'Scale',
      content: [h('p', `It has ${plural(now, 'replica')} now.`), field('Replicas', input)],
      valid: () => input.value !== '' && Number.isInteger(many()) && many() >= 0,
      command: () => kubectl(about, 'scale', target(r, about.name), `--replicas=${input.value}`),
      async run() {
        const { trace, warnings } = await patch(path, { spec: { replicas: many() } });
        return { text: `Scaled from ${now} to ${many()}.`, trace, warnings };
      },
    });
  },
};
