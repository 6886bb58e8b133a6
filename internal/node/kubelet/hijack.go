package kubelet

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// hijackable cancels a context when the peer of the hijacked connection has gone. The HTTP server no longer does
// that after an upgrade.
type hijackable struct {
	http.ResponseWriter
	gone context.CancelFunc
}

func watched(w http.ResponseWriter, req *http.Request) (http.ResponseWriter, *http.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(req.Context()))
	return &hijackable{w, cancel}, req.WithContext(ctx), cancel
}

// Hijack returns the connection.
func (h *hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	c := &watchedConn{Conn: conn, gone: h.gone}
	return c, bufio.NewReadWriter(bufio.NewReader(io.MultiReader(buffered(rw.Reader), c)), bufio.NewWriter(c)), nil
}

// Flush implements http.Flusher, for callers that assert it.
func (h *hijackable) Flush() { http.NewResponseController(h.ResponseWriter).Flush() }

// buffered returns the bytes that have been read ahead.
func buffered(r *bufio.Reader) io.Reader { return io.LimitReader(r, int64(r.Buffered())) }

type watchedConn struct {
	net.Conn
	gone context.CancelFunc
	once sync.Once
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.once.Do(c.gone)
	}
	return n, err
}

func drain(r io.Reader) { io.Copy(io.Discard, r) }
