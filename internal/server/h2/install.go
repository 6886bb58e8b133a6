package h2

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"fairlead.dev/internal/purego"
)

// Server is the HTTP/2 side of one http.Server.
type Server struct {
	settings

	mu struct {
		sync.Mutex
		conns map[*conn]struct{}
		down  bool
	}
}

// Install makes hs serve HTTP/2 by this package. It must be called before hs serves. The following fields of hs
// apply: Handler, IdleTimeout, MaxHeaderBytes, ErrorLog, ConnState, BaseContext, ConnContext and
// HTTP2.MaxConcurrentStreams. Its ReadTimeout and WriteTimeout do not; handlers set deadlines by
// http.ResponseController.
func Install(hs *http.Server, o Options) *Server {
	s := &Server{settings: settings{hs: hs, timeout: cmp.Or(o.WriteTimeout, 30*time.Second)}}
	s.mu.conns = map[*conn]struct{}{}
	if purego.Enabled {
		return s // hs serves HTTP/2 itself
	}
	if hs.TLSNextProto == nil {
		hs.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	hs.TLSNextProto["h2"] = func(_ *http.Server, tc *tls.Conn, h http.Handler) {
		ctx := context.Background()
		if b, ok := h.(interface{ BaseContext() context.Context }); ok {
			ctx = b.BaseContext()
		}
		state := tc.ConnectionState()
		if !adequate(&state) {
			http2.NewFramer(tc, nil).WriteGoAway(0, http2.ErrCodeInadequateSecurity, nil)
			return
		}
		s.Serve(ctx, tc, &state, h)
	}
	hs.RegisterOnShutdown(s.shutdown)
	return s
}

// adequate reports whether HTTP/2 may be used with the connection's cipher suite. For TLS 1.2, RFC 9113 permits
// only suites with an ephemeral key and authenticated encryption.
func adequate(state *tls.ConnectionState) bool {
	switch state.CipherSuite {
	case tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256:
		return true
	}
	return state.Version >= tls.VersionTLS13
}

// Serve serves one connection and returns when it has ended and is closed. A nil state means a connection without
// TLS.
func (s *Server) Serve(ctx context.Context, nc net.Conn, state *tls.ConnectionState, h http.Handler) {
	c := newConn(&s.settings, ctx, nc, state, h)
	s.mu.Lock()
	s.mu.conns[c] = struct{}{}
	down := s.mu.down
	s.mu.Unlock()
	if down {
		c.goAway()
	}
	c.serve()
	s.mu.Lock()
	delete(s.mu.conns, c)
	s.mu.Unlock()
}

// shutdown sends GOAWAY on every connection.
func (s *Server) shutdown() {
	s.mu.Lock()
	s.mu.down = true
	conns := make([]*conn, 0, len(s.mu.conns))
	for c := range s.mu.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.goAway()
	}
}
