package h2

import (
	"net/http"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
)

// headers opens a stream, or receives the trailers of one. It runs on the reader.
func (c *conn) headers(f *http2.MetaHeadersFrame) error {
	id := f.StreamID
	if id%2 != 1 {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	if c.wasOpened(id) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.trailers(f)
	}
	st := &stream{c: c, id: id, remoteEnded: f.StreamEnded()}
	x := &exchange{st: st}
	bad := x.read(f)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.lastStream = id
	switch {
	case c.mu.goingAway:
		return nil
	case bad != nil || f.HasPriority() && f.Priority.StreamDep == id:
		return c.resetAny(id, http2.ErrCodeProtocol)
	case len(c.mu.streams) >= c.maxStreams:
		return c.resetAny(id, http2.ErrCodeRefusedStream)
	}
	x.moved.L = &c.mu.Mutex
	x.receive = receiveWindow{available: bodyWindow, size: bodyWindow}
	st.x, st.window = x, c.mu.initial
	c.mu.streams[id] = st
	if len(c.mu.streams) == 1 && c.server.hs.ConnState != nil {
		go c.reportState()
	}
	return c.start(st)
}

// wasOpened reports whether the stream was opened before.
func (c *conn) wasOpened(id uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return id <= c.mu.lastStream
}

// trailers receives the fields after a body.
func (c *conn) trailers(f *http2.MetaHeadersFrame) error {
	st := c.mu.streams[f.StreamID]
	switch {
	case st == nil && len(f.PseudoFields()) > 0:
		// A new request on a stream that has ended or was skipped.
		return http2.ConnectionError(http2.ErrCodeProtocol)
	case st == nil && c.recentlyReset(f.StreamID):
		return nil
	case st == nil || st.remoteEnded:
		return c.resetAny(f.StreamID, http2.ErrCodeStreamClosed)
	case !f.StreamEnded() || len(f.PseudoFields()) > 0:
		return c.resetAny(f.StreamID, http2.ErrCodeProtocol)
	case st.x == nil || st.x.body == nil:
		st.remoteEnded = true
		return nil
	}
	trailer := http.Header{}
	for _, hf := range f.RegularFields() {
		key := http.CanonicalHeaderKey(hf.Name)
		if !httpguts.ValidTrailerHeader(key) {
			return c.resetAny(f.StreamID, http2.ErrCodeProtocol)
		}
		trailer[key] = append(trailer[key], hf.Value)
	}
	st.x.trailer = trailer
	st.endRemote()
	return nil
}
