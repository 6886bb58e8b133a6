// Going back to a state of an object: a preview of the write, and one confirmation.
import { h } from './dom.js';
import { collection, json, objectPath, resources, write } from './api.js';
import { changes } from './diff.js';
import { changesTable } from './changes.js';
import { kind, object as nameOf } from './format.js';

// The metadata that the server sets.
const SERVER_SET = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'managedFields'];

// restored is what to write to go back to a state: with the present status and server-set metadata, on the condition that
// these are still the present ones; or a new object.
export function restored(state, current) {
  const out = structuredClone(state);
  delete out.status;
  for (const f of SERVER_SET) delete out.metadata[f];
  if (!current) return out;
  if (current.status) out.status = structuredClone(current.status);
  for (const f of SERVER_SET) if (f !== 'managedFields' && current.metadata[f] !== undefined) out.metadata[f] = current.metadata[f];
  return out;
}

// reown gives the references to owners that were created again their present UIDs, and removes those to owners that are
// gone, on whose account the garbage collector would delete the object. It returns what it removed, as Kind/name.
async function reown(body, namespace) {
  const gone = [], kept = [];
  for (const ref of body.metadata.ownerReferences || []) {
    const uid = await ownerUID(ref, namespace);
    if (uid) kept.push({ ...ref, uid });
    else gone.push(`${ref.kind}/${ref.name}`);
  }
  if (kept.length) body.metadata.ownerReferences = kept;
  else delete body.metadata.ownerReferences;
  return gone;
}

// ownerUID is the UID of the owner that a reference names, the one in the reference if the user may not read it, or undefined.
async function ownerUID(ref, namespace) {
  const group = ref.apiVersion.includes('/') ? ref.apiVersion.split('/')[0] : '';
  const r = [...(await resources()).values()].find((k) => k.group === group && k.kind === ref.kind);
  if (!r || (r.namespaced && !namespace)) return undefined;
  try {
    return (await json(objectPath(r, namespace, ref.name), 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1')).metadata.uid;
  } catch (err) {
    if (err.code === 403) return ref.uid;
    if (err.code === 404) return undefined;
    throw err;
  }
}

// send writes the object; a dry run returns what would be stored.
async function send(r, about, body, exists, dryRun) {
  const query = { fieldManager: 'fairlead-undo', ...(dryRun && { dryRun: 'All' }) };
  return (await write(exists ? 'PUT' : 'POST', exists ? objectPath(r, about.namespace, about.name) : collection(r, about.namespace), { query, body })).object;
}

// undo shows the dialog for going back to the state of a revision. done is called after the write.
export function undo(r, about, { revision, state, current }, done) {
  const body = restored(state, current);
  const preview = h('div.preview', h('p.dim', 'reading the preview…'));
  const failed = h('p.bad', { role: 'alert' });
  const act = h('button.primary', { disabled: true, onclick: apply }, current ? `Write the state of ${revision}` : 'Create it again');
  const dialog = h('dialog.undo', { 'aria-labelledby': 'undo-title', onclose: () => dialog.remove() },
    h('h2', { id: 'undo-title' }, `${kind(about.resource)} `, h('b', nameOf(about)), ` back to revision ${revision}`),
    h('p.dim', current ? 'A new write by you: the status stays as it is, and it fails if the object changes meanwhile.' : 'The object was deleted: it is created again, with a new UID.'),
    preview, failed, h('form', { method: 'dialog' }, h('button', 'Cancel'), ' ', act));

  async function look() {
    try {
      const gone = await reown(body, about.namespace);
      if (gone.length) preview.before(h('p.dim.gone', `References to owners that are gone are left out: ${gone.join(', ')}`));
      const result = await send(r, about, body, Boolean(current), true).catch((err) => {
        if (err.code === 400 && err.message.includes('does not support dry run')) return body; // an admission webhook
        throw err;
      });
      const list = changes(current || {}, result);
      preview.replaceChildren(list.length ? changesTable(list, current, result) : h('p.dim', 'The object is in this state already.'));
      act.disabled = !list.length;
    } catch (err) {
      preview.replaceChildren();
      failed.textContent = err.message;
    }
  }

  async function apply(e) {
    e.preventDefault();
    act.disabled = true;
    failed.textContent = '';
    try {
      const result = await send(r, about, body, Boolean(current), false);
      dialog.close();
      done(Number(result.metadata.resourceVersion));
    } catch (err) {
      failed.textContent = err.code === 409 ? `It has changed meanwhile, and nothing was written: close this and look again. (${err.message})` : err.message;
    }
  }

  document.body.append(dialog);
  dialog.showModal();
  look();
}
