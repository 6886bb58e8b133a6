// The present state of one object, kept up to date by a watch.
import { collection, find } from './api.js';
import { listAndWatch } from './watch.js';

// present calls changed(object) with each state; undefined if the object does not exist. failed(err) is
// called when it cannot be read.
export function present(about, changed, failed) {
  const stop = new AbortController();
  const { namespace, name } = about;
  const isIt = (o) => o.metadata.name === name && (o.metadata.namespace || '') === (namespace || '');
  (async () => {
    try {
      const r = await find(about.resource);
      await listAndWatch(collection(r, namespace), {
        query: { fieldSelector: `metadata.name=${name}` },
        page: (list) => {
          const o = (list.items || []).find(isIt);
          changed(o && { apiVersion: list.apiVersion, kind: r.kind, ...o }, r);
        },
        change: (batch) => {
          const last = batch.filter((e) => isIt(e.object)).pop();
          if (last) changed(last.type === 'DELETED' ? undefined : last.object, r);
        },
        state: () => { },
      }, stop.signal);
    } catch (err) {
      if (err.name !== 'AbortError') failed(err);
    }
  })();
  return { destroy: () => stop.abort() };
}
