package controlplane

import (
	"bytes"
	"log"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// newHandshakeErrors returns the counter of failed TLS handshakes, under kube-apiserver's name.
func newHandshakeErrors() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "apiserver_tls_handshake_errors_total", Help: "Connections that were closed because their TLS handshake failed.",
	})
}

// handshakeLog passes the lines of an http.Server's log on to next, and counts those of failed TLS handshakes, of which the
// server tells by its log alone.
type handshakeLog struct {
	failed prometheus.Counter
	next   *log.Logger
}

// Write implements io.Writer.
func (l handshakeLog) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("http: TLS handshake error from ")) {
		l.failed.Inc()
	}
	return l.next.Writer().Write(line)
}

// httpLog returns the log of the HTTP server.
func (cp *ControlPlane) httpLog() *log.Logger {
	next := slog.NewLogLogger(cp.options.Log.Handler(), slog.LevelDebug)
	return log.New(handshakeLog{cp.handshakeErrors, next}, "", 0)
}
