// The containers of a pod, with their labels in a choice: {name, label, running}.
export function containers(pod) {
  const s = pod.status || {};
  const running = new Set([...(s.containerStatuses || []), ...(s.initContainerStatuses || []), ...(s.ephemeralContainerStatuses || [])].filter((c) => c.state?.running).map((c) => c.name));
  const kinds = [[pod.spec.containers, ''], [pod.spec.initContainers, ' (init)'], [pod.spec.ephemeralContainers, ' (ephemeral)']];
  return kinds.flatMap(([list, what]) => (list || []).map((c) => ({ name: c.name, label: c.name + what, running: running.has(c.name) })));
}
