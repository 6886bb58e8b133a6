// Jobs and CronJobs: run one now, suspend and resume.
import { h } from './dom.js';
import { collection, find, objectPath, patch, write } from './api.js';
import { confirm, field } from './dialog.js';
import { kubectl, target } from './kubectl.js';
import { objectAddress } from './format.js';

const jobs = { group: 'batch', version: 'v1', plural: 'jobs' };

const trigger = {
  name: 'trigger',
  title: () => 'Run now…',
  applies: (o, r) => r.key === 'cronjobs.batch',
  needs: (o, r, { namespace }) => [['create', jobs, { namespace }]],
  open(o, r, about) {
    const suffix = `-manual-${Math.floor(Date.now() / 1000).toString(36)}`;
    const name = h('input', { value: about.name.slice(0, 63 - suffix.length) + suffix, required: true, autofocus: true, autocomplete: 'off', spellcheck: false });
    return confirm({
      title: `Run ${target(r, about.name)} now`, label: 'Run',
      content: [h('p', 'A Job is created from its template at once. The schedule stays as it is.'), field('Name of the Job', name)],
      valid: () => name.value.trim() !== '',
      command: () => kubectl(about, 'create', 'job', name.value.trim(), `--from=cronjob/${about.name}`),
      async run() {
        const { metadata = {}, spec } = o.spec.jobTemplate;
        const job = {
          apiVersion: 'batch/v1', kind: 'Job', spec,
          metadata: {
            name: name.value.trim(), labels: metadata.labels, annotations: { ...metadata.annotations, 'cronjob.kubernetes.io/instantiate': 'manual' },
            ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: about.name, uid: o.metadata.uid, controller: true }],
          },
        };
        const { trace, warnings } = await write('POST', collection(await find('jobs.batch'), about.namespace), { body: job });
        const of = { resource: 'jobs.batch', namespace: about.namespace, name: job.metadata.name };
        return { text: 'Created', link: h('a', { href: objectAddress(of) }, `job/${of.name}`), trace, about: of, warnings };
      },
    });
  },
};

const suspend = {
  name: 'suspend',
  title: (o) => (o.spec.suspend ? 'Resume…' : 'Suspend…'),
  applies: (o, r) => r.key === 'cronjobs.batch' || (r.key === 'jobs.batch' && !o.status?.completionTime),
  needs: (o, r, about) => [['patch', r, about]],
  open(o, r, about) {
    const to = !o.spec.suspend;
    const effect = r.key === 'jobs.batch' ? ['Its active pods are deleted, and no others are created until it is resumed.', 'Its pods are created again.']
      : ['No Jobs are created until it is resumed. Jobs that run go on.', 'Jobs are created by the schedule again.'];
    return confirm({
      title: `${to ? 'Suspend' : 'Resume'} ${target(r, about.name)}`, label: to ? 'Suspend' : 'Resume', content: h('p', effect[to ? 0 : 1]),
      command: () => kubectl(about, 'patch', target(r, about.name), '-p', JSON.stringify({ spec: { suspend: to } })),
      async run() {
        const { trace, warnings } = await patch(objectPath(r, about.namespace, about.name), { spec: { suspend: to } });
        return { text: to ? 'Suspended.' : 'Resumed.', trace, warnings };
      },
    });
  },
};

export const jobActions = [trigger, suspend];
