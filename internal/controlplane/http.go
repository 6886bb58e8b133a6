package controlplane

import (
	"crypto/tls"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"time"

	"fairlead.dev/internal/connections"
	"fairlead.dev/internal/server/h2"
)

// HTTP configures the server's port beyond TLS. It does not apply to the control planes of a Front.
type HTTP struct {
	// Origins match the origins of web pages that may send requests, with credentials, from a browser (CORS).
	Origins []*regexp.Regexp
	// StrictTransportSecurity is the value of the header of that name; "" leaves it out.
	StrictTransportSecurity string
	// GoawayChance is the fraction of requests over HTTP/2 after which the connection is closed, so that clients spread
	// over several servers.
	GoawayChance float64
	// NoHTTP2 serves HTTP/1.1 only.
	NoHTTP2 bool
	// StandardHTTP2 serves HTTP/2 by net/http's code in place of internal/server/h2's.
	StandardHTTP2 bool
	// MaxConnections bounds the open connections; 0 does not. Beyond it, those of clients that have not authenticated are
	// closed, the oldest first, or else the new one.
	MaxConnections int
	// MaxStreams is how many requests a connection over HTTP/2 has at once; 0 is 100.
	MaxStreams int
	// MaxBytesPerSec limits each direction of exec, attach, port-forward and proxied connections, in bytes a second; 0 does
	// not.
	MaxBytesPerSec int64
	// WatchTimeout is the least time of a watch whose client asks for no time; each gets up to twice that. 0 is 30 minutes.
	WatchTimeout time.Duration
}

// newHTTP returns the HTTP server of the port.
func (cp *ControlPlane) newHTTP(config *tls.Config) *http.Server {
	handler := cp.page.Over(cp.server)
	if cp.options.Host != nil {
		handler = cp.options.Host.Over(handler)
	}
	o := cp.options.HTTP
	streams := o.MaxStreams
	if streams == 0 {
		streams = 100
	}
	s := &http.Server{
		Handler:           cp.drain.over(o.over(handler)),
		TLSConfig:         config,
		ReadHeaderTimeout: 32 * time.Second,
		IdleTimeout:       90 * time.Second,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: streams, WriteByteTimeout: 30 * time.Second},
		ErrorLog:          cp.httpLog(),
		ConnContext:       connections.Context,
	}
	switch {
	case o.NoHTTP2:
		s.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	case !o.StandardHTTP2:
		h2.Install(s, h2.Options{})
	}
	return s
}

// over returns a handler with the headers that are configured.
func (o HTTP) over(h http.Handler) http.Handler {
	if len(o.Origins) > 0 {
		h = crossOrigin(o.Origins, h)
	}
	if o.StrictTransportSecurity == "" && o.GoawayChance == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.StrictTransportSecurity != "" {
			w.Header().Set("Strict-Transport-Security", o.StrictTransportSecurity)
		}
		if r.ProtoMajor == 2 && rand.Float64() < o.GoawayChance {
			w.Header().Set("Connection", "close") // GOAWAY, and the end of the connection when it is idle
		}
		h.ServeHTTP(w, r)
	})
}

// The headers of answers to allowed origins, as in kube-apiserver.
var (
	crossOriginMethods = strings.Join([]string{"POST", "GET", "OPTIONS", "PUT", "DELETE", "PATCH"}, ", ")
	crossOriginHeaders = strings.Join([]string{
		"Content-Type", "Content-Length", "Accept-Encoding", "X-CSRF-Token", "Authorization", "X-Requested-With", "If-Modified-Since",
	}, ", ")
)

// crossOrigin answers preflight requests of the origins, and allows their pages to read the answers of h.
func crossOrigin(origins []*regexp.Regexp, h http.Handler) http.Handler {
	allowed := func(origin string) bool {
		for _, o := range origins {
			if o.MatchString(origin) {
				return true
			}
		}
		return false
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || !allowed(origin) {
			h.ServeHTTP(w, r)
			return
		}
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Allow-Methods", crossOriginMethods)
		header.Set("Access-Control-Allow-Headers", crossOriginHeaders)
		header.Set("Access-Control-Expose-Headers", "Date")
		header.Set("Access-Control-Allow-Credentials", "true")
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.ServeHTTP(w, r)
	})
}
