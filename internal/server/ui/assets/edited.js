// The part of an object that a user can edit.

// present divides a state into what the editor shows, and its revision. An update of the object ignores its status if that
// is a subresource, and keeps the managed fields if it has none.
export function present(o, r) {
  const shown = structuredClone(o);
  const revision = shown.metadata.resourceVersion;
  delete shown.metadata.resourceVersion;
  delete shown.metadata.managedFields;
  delete shown.metadata.generation;
  if (r.subresources.includes('status')) delete shown.status;
  return { shown, revision };
}
