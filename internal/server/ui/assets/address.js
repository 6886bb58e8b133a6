// The address of the page: #/view/part/part?key=value. It encodes the whole view, so that links
// and the Back button work.

// parts and query of the present address.
export function address() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').map(decoded), query: new URLSearchParams(query) };
}

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

// inherit sets a view's filter from the address, if the address has a query or was shown
// before. Otherwise it keeps the filter, and writes it into the address.
export function inherit(filter) {
  const { query } = address();
  if (history.state?.shown || [...query.keys()].length) for (const key of Object.keys(filter)) filter[key] = query.get(key) || '';
  remember(filter);
}

// remember writes the filter into the address.
export function remember(filter) {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
  const [path] = location.hash.split('?');
  history.replaceState({ shown: true }, '', `${path || '#/overview'}${[...query.keys()].length ? `?${query}` : ''}`);
}
