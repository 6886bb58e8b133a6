// The kinds of the server in groups, as people look for them.
const CORE = {
  Workloads: ['pods', 'replicationcontrollers', 'podtemplates'],
  Network: ['services', 'endpoints'],
  Configuration: ['configmaps', 'secrets', 'resourcequotas', 'limitranges'],
  Storage: ['persistentvolumeclaims', 'persistentvolumes'],
  Access: ['serviceaccounts'],
};
const GROUPS = {
  Workloads: ['apps', 'batch', 'autoscaling', 'policy'],
  Network: ['networking.k8s.io', 'discovery.k8s.io'],
  Storage: ['storage.k8s.io', 'storagemigration.k8s.io', 'snapshot.storage.k8s.io'],
  Access: ['rbac.authorization.k8s.io', 'certificates.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io'],
};
const ORDER = ['Workloads', 'Network', 'Configuration', 'Storage', 'Access', 'Custom', 'Cluster'];
const FIRST = ['pods', 'deployments', 'services', 'nodes', 'namespaces', 'events'];

function groupOf(r) {
  if (!r.group) return Object.keys(CORE).find((g) => CORE[g].includes(r.plural)) || 'Cluster';
  const found = Object.keys(GROUPS).find((g) => GROUPS[g].includes(r.group));
  return found || (r.group.endsWith('.k8s.io') ? 'Cluster' : 'Custom');
}

// groupKinds returns [group, resources] in the order of the page. Of a resource with two names, as events
// have, the one of the core group is shown.
export function groupKinds(resources) {
  const groups = new Map(ORDER.map((g) => [g, []]));
  const core = new Set([...resources.values()].filter((r) => !r.group).map((r) => r.plural));
  for (const r of resources.values()) {
    if (r.group.endsWith('.k8s.io') && core.has(r.plural)) continue;
    groups.get(groupOf(r)).push(r);
  }
  const rank = (r) => (FIRST.indexOf(r.plural) + 1 || FIRST.length + 1);
  for (const list of groups.values()) list.sort((a, b) => rank(a) - rank(b) || a.key.localeCompare(b.key));
  return [...groups].filter(([, list]) => list.length);
}
