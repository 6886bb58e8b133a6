// The revisions of a rollout: a Deployment's are its ReplicaSets, those of StatefulSets and DaemonSets are
// ControllerRevisions.
import { collection, find, json } from './api.js';
import { age } from './format.js';
import { clusterTime } from './time.js';

const NUMBER = 'deployment.kubernetes.io/revision';

// revisions lists {number, template, images, note, current, patch, type}, the latest first; patch and type are the
// request that rolls back to it.
export async function revisions(o, r, about) {
  const from = await find(r.plural === 'deployments' ? 'replicasets.apps' : 'controllerrevisions.apps');
  const list = await json(`${collection(from, about.namespace)}?${new URLSearchParams({ labelSelector: selector(o.spec.selector) })}`);
  const owned = (list.items || []).filter((i) => (i.metadata.ownerReferences || []).some((ref) => ref.controller && ref.uid === o.metadata.uid));
  const found = owned.map(r.plural === 'deployments' ? ofReplicaSet : ofControllerRevision).sort((a, b) => b.number - a.number);
  const now = r.plural === 'statefulsets' ? o.status?.updateRevision : r.plural === 'deployments' ? Number(o.metadata.annotations?.[NUMBER]) : found[0]?.name;
  for (const v of found) v.current = v.number === now || v.name === now;
  return found;
}

// selector is a label selector as text.
function selector({ matchLabels = {}, matchExpressions = [] }) {
  const text = { In: (e) => `${e.key} in (${e.values.join(',')})`, NotIn: (e) => `${e.key} notin (${e.values.join(',')})`, Exists: (e) => e.key, DoesNotExist: (e) => `!${e.key}` };
  return [...Object.entries(matchLabels).map(([k, v]) => `${k}=${v}`), ...matchExpressions.map((e) => text[e.operator](e))].join(',');
}

function revision(owned, number, template, request) {
  const { name, creationTimestamp, annotations = {} } = owned.metadata;
  return {
    name, number, template, images: (template.spec.containers || []).map((c) => c.image),
    note: [annotations['kubernetes.io/change-cause'], `${age(clusterTime() - Date.parse(creationTimestamp))} ago`].filter(Boolean).join(' · '), ...request,
  };
}

function ofReplicaSet(set) {
  const template = structuredClone(set.spec.template);
  delete template.metadata.labels['pod-template-hash'];
  return revision(set, Number(set.metadata.annotations?.[NUMBER]) || 0, template, { patch: [{ op: 'replace', path: '/spec/template', value: template }], type: 'application/json-patch+json' });
}

// ofControllerRevision: its data is a strategic merge patch.
function ofControllerRevision(one) {
  const { $patch, ...template } = one.data.spec.template;
  return revision(one, one.revision, template, { patch: one.data, type: 'application/strategic-merge-patch+json' });
}
