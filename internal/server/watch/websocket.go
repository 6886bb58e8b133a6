package watch

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/websocket"

	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/internal/server/serializer"
)

// WantsWebSocket reports whether the client asks to watch through a WebSocket, as browsers do.
func WantsWebSocket(req *http.Request) bool {
	return strings.EqualFold(req.Header.Get("Upgrade"), "websocket") &&
		strings.Contains(strings.ToLower(req.Header.Get("Connection")), "upgrade")
}

// Upgrade turns the connection into a WebSocket and runs the stream on it, one message a
// frame. A second goroutine reads and discards the client's messages, to notice that it goes
// away.
func Upgrade(ctx context.Context, w *respond.Writer, req *http.Request, m serializer.MediaType, stream func(context.Context, http.ResponseWriter)) {
	accept := func(*websocket.Config, *http.Request) error { return nil }
	websocket.Server{Handshake: accept, Handler: func(conn *websocket.Conn) {
		ctx, cancel := context.WithCancel(ctx)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			defer cancel()
			io.Copy(io.Discard, conn)
		}()
		w.Code = http.StatusOK
		stream(ctx, &messages{conn: conn, media: m})
		conn.Close()
		<-gone
	}}.ServeHTTP(w, req)
	if w.Code == 0 {
		w.Code = http.StatusSwitchingProtocols
	}
}

// messages is a ResponseWriter that sends each frame as a message.
type messages struct {
	conn  *websocket.Conn
	media serializer.MediaType
}

func (m *messages) Header() http.Header { return http.Header{} }

func (m *messages) WriteHeader(int) {}

// Write takes whole frames.
func (m *messages) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		var err error
		switch m.media {
		case serializer.CBOR:
			end := represent.CBORFrameSize(p)
			err = websocket.Message.Send(m.conn, p[:end])
			p = p[end:]
		case serializer.Protobuf:
			end := 4 + int(binary.BigEndian.Uint32(p))
			err = websocket.Message.Send(m.conn, p[4:end])
			p = p[end:]
		default:
			end := bytes.IndexByte(p, '\n') + 1
			err = websocket.Message.Send(m.conn, string(p[:end]))
			p = p[end:]
		}
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (m *messages) Flush() {}

func (m *messages) SetWriteDeadline(t time.Time) error { return m.conn.SetWriteDeadline(t) }
