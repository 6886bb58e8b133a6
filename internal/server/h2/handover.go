package h2

import "net/http"

// HandOver passes the rest of w's response to the connection, which continues with src after the handler has
// returned. The handler must not use w afterwards. ring is src's bell. ok is false, and src unused, if w is not of
// a connection of this package.
func HandOver(w http.ResponseWriter, src Source) (ring func(), ok bool) {
	r := find(w)
	if r == nil {
		return nil, false
	}
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.x.st.src = src
	return r.x.st.ring, true
}

// ring marks the source as ready.
func (st *stream) ring() {
	c := st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case st.closed || st.x != nil: // it will be asked anyway
	case st.busy:
		st.rung = true
	case st.in == nil:
		c.mu.ready.push(st)
		c.wake()
	}
}
