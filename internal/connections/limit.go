package connections

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Limit bounds the open connections of a server.
type Limit struct {
	most int

	mu struct {
		sync.Mutex
		open map[*conn]struct{}
		// accepted counts the connections.
		accepted uint64
	}
	gauge   prometheus.Collector
	dropped *prometheus.CounterVec
}

// The reasons for which a connection is closed.
const (
	replaced = "replaced" // by a new one, before its client had authenticated
	refused  = "refused"  // since all others are of clients that have authenticated
)

// NewLimit returns a limit of most connections; 0 is no limit.
func NewLimit(most int) *Limit {
	l := &Limit{most: most, dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fairlead_dropped_connections_total", Help: "Connections that were closed because of the limit on open ones, by reason: replaced by a new one before their client had authenticated, or refused.",
	}, []string{"reason"})}
	l.mu.open = map[*conn]struct{}{}
	l.gauge = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fairlead_connections", Help: "Open connections to the API server.",
	}, func() float64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return float64(len(l.mu.open))
	})
	for _, reason := range []string{replaced, refused} {
		l.dropped.WithLabelValues(reason)
	}
	return l
}

// Describe implements prometheus.Collector.
func (l *Limit) Describe(c chan<- *prometheus.Desc) {
	l.gauge.Describe(c)
	l.dropped.Describe(c)
}

// Collect implements prometheus.Collector.
func (l *Limit) Collect(c chan<- prometheus.Metric) {
	l.gauge.Collect(c)
	l.dropped.Collect(c)
}

// Listener returns a listener whose connections count.
func (l *Limit) Listener(inner net.Listener) net.Listener { return &listener{inner, l} }

type listener struct {
	net.Listener
	limit *Limit
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.limit.admit(inner); c != nil {
			return c, nil
		}
		inner.Close()
	}
}

// conn is a connection that counts.
type conn struct {
	net.Conn
	limit *Limit
	// number is the place among all accepted connections.
	number uint64
	// authenticated: a request had credentials that are valid.
	authenticated atomic.Bool
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.limit.remove(c)
	return c.Conn.Close()
}

func (l *Limit) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.mu.open, c)
}

// admit counts a new connection; nil if there is no room for it.
func (l *Limit) admit(inner net.Conn) *conn {
	l.mu.Lock()
	var last *conn
	if l.most > 0 && len(l.mu.open) >= l.most {
		if last = l.leastKnown(); last == nil {
			l.mu.Unlock()
			l.dropped.WithLabelValues(refused).Inc()
			return nil
		}
		delete(l.mu.open, last)
	}
	l.mu.accepted++
	c := &conn{Conn: inner, limit: l, number: l.mu.accepted}
	l.mu.open[c] = struct{}{}
	l.mu.Unlock()
	if last != nil {
		l.dropped.WithLabelValues(replaced).Inc()
		last.Conn.Close() // its server sees the end, and closes it
	}
	return c
}

// sample is how many connections are looked at when one has to go, so that the time does not grow with their number.
const sample = 64

// leastKnown returns the oldest connection of a sample whose client has not authenticated, or nil. Maps have a random order.
func (l *Limit) leastKnown() (oldest *conn) {
	seen := 0
	for c := range l.mu.open {
		if !c.authenticated.Load() && (oldest == nil || c.number < oldest.number) {
			oldest = c
		}
		if seen++; seen == sample {
			break
		}
	}
	return oldest
}

type contextKey struct{}

// Context is an http.Server's ConnContext, which Authenticated needs.
func Context(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if counted, ok := c.(*conn); ok {
		return context.WithValue(ctx, contextKey{}, counted)
	}
	return ctx
}

// Authenticated notes that a request of the context's connection had valid credentials.
func Authenticated(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(*conn); ok && !c.authenticated.Load() {
		c.authenticated.Store(true)
	}
}
