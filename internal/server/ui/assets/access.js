// What the user may do, by SelfSubjectAccessReviews.
import { post } from './api.js';

const FRESH = 60e3; // ms that an answer is kept
const answers = new Map(); // attributes -> {at, answer}

// may reports whether the user may do a verb to an object, or to a subresource of it.
export function may(verb, r, { namespace, name }, subresource = '') {
  return allowed({ resourceAttributes: { verb, group: r.group, version: r.version, resource: r.plural, subresource, namespace: namespace || '', name: name || '' } });
}

// mayPath reports whether the user may do a verb to a path that is no resource.
export const mayPath = (verb, path) => allowed({ nonResourceAttributes: { verb, path } });

function allowed(attributes) {
  const key = JSON.stringify(attributes);
  const kept = answers.get(key);
  if (kept && Date.now() - kept.at < FRESH) return kept.answer;
  const answer = ask(attributes).catch((err) => {
    answers.delete(key);
    throw err;
  });
  answers.set(key, { at: Date.now(), answer });
  return answer;
}

async function ask(spec) {
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
  const res = await post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
  return Boolean((await res.json()).status.allowed);
}

// mayAll reports whether the user may do all of several things, each the arguments of may.
export async function mayAll(list) {
  return (await Promise.all(list.map((one) => may(...one)))).every(Boolean);
}
