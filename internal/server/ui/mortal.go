package ui

import (
	"bufio"
	"context"
	"net"
	"net/http"
)

// mortal closes the connection of a WebSocket when its request's context ends, which a handler that has taken the
// connection over may not look at.
type mortal struct {
	http.ResponseWriter
	ctx context.Context
}

// Unwrap is for http.ResponseController.
func (m *mortal) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// Hijack implements http.Hijacker.
func (m *mortal) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(m.ResponseWriter).Hijack()
	if err == nil {
		context.AfterFunc(m.ctx, func() { conn.Close() })
	}
	return conn, rw, err
}
