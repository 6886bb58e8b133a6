// The address of the page: #/view/part/part?key=value. It holds all that a view shows, so that
// it may be sent to somebody, and back is back.

// parts and query of the present address.
export function address() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').map(decoded), query: new URLSearchParams(query) };
}

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

// inherit settles what a view filters by: by the address, if it says so or is one that was
// shown before; otherwise as it is now, which is then written into the address.
export function inherit(filter) {
  const { query } = address();
  if (history.state?.shown || [...query.keys()].length) for (const key of Object.keys(filter)) filter[key] = query.get(key) || '';
  remember(filter);
}

// remember writes what is filtered by into the address.
export function remember(filter) {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
  const [path] = location.hash.split('?');
  history.replaceState({ shown: true }, '', `${path || '#/events'}${[...query.keys()].length ? `?${query}` : ''}`);
}
