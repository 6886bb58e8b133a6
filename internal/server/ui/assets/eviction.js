// Evictions by the eviction API.
import { find, objectPath, write } from './api.js';

// evictionOf is the request's body.
export function evictionOf({ metadata: { namespace, name } }, deleteOptions) {
  return { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions };
}

// evict evicts a pod. A RequestError with the code 429 means that a PodDisruptionBudget forbids it now.
export async function evict(pod, deleteOptions = {}, signal = undefined) {
  const { namespace, name, uid } = pod.metadata;
  const body = evictionOf(pod, { ...deleteOptions, preconditions: { uid } });
  return write('POST', `${objectPath(await find('pods'), namespace, name)}/eviction`, { body, signal });
}
