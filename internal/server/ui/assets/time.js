// The time of the cluster: the browser's, or that of a server with a virtual clock, as its responses and its events
// have it.
let virtual = false;
let last = 0; // ms since 1970, of the virtual clock

export function followServer() { virtual = true; }

// tell takes a time of the server.
export function tell(at) {
  if (virtual && at > last) last = at;
}

export const clusterTime = () => last || Date.now();
