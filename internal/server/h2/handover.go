package h2

import "net/http"

// A Taker is a response that goes on without its handler: those of this package's connections, and others in memory.
type Taker interface {
	// TakeOver is HandOver for this response.
	TakeOver(src Source) (ring func())
}

// HandOver passes the rest of w's response to the connection, which continues with src after the handler has
// returned. The handler must not use w afterwards. ring is src's bell. ok is false, and src unused, if w does not
// wrap a Taker.
func HandOver(w http.ResponseWriter, src Source) (ring func(), ok bool) {
	t, ok := find[Taker](w)
	if !ok {
		return nil, false
	}
	return t.TakeOver(src), true
}

// TakeOver implements Taker.
func (r *response) TakeOver(src Source) (ring func()) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.x.st.src = src
	return r.x.st.ring
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
