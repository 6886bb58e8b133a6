//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// attackedStreams is the limit on streams of a target's connections, and attackedWaiting how many more may wait for a
// handler.
const (
	attackedStreams = 10
	attackedWaiting = 4 * attackedStreams
)

// target is a server that is attacked over TCP and TLS. It counts its handlers.
type target struct {
	*httptest.Server
	t testing.TB
	// free ends the handlers of /hold, which do not notice that their stream has ended.
	free                   chan struct{}
	started, running, most atomic.Int64
}

func newTarget(t testing.TB, change ...func(*http.Server)) *target {
	t.Helper()
	a := &target{t: t, free: make(chan struct{})}
	limit := func(s *http.Server) { s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: attackedStreams} }
	a.Server = serve(t, a, append(change, limit)...)
	t.Cleanup(func() { close(a.free) }) // before the server is closed
	return a
}

func (a *target) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path == "/bystander" {
		return
	}
	a.started.Add(1)
	defer a.running.Add(-1)
	for now := a.running.Add(1); ; {
		most := a.most.Load()
		if now <= most || a.most.CompareAndSwap(most, now) {
			break
		}
	}
	if req.URL.Path == "/hold" {
		<-a.free
		return
	}
	echo(w, req)
}

// answersOthers checks that another client's request is answered.
func (a *target) answersOthers() {
	a.t.Helper()
	resp, err := a.Client().Get(a.URL + "/bystander")
	if err != nil {
		a.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		a.t.Fatal(resp.Proto, resp.Status)
	}
}

// boundsHandlers checks that no more handlers ran at once than the attacker may have streams.
func (a *target) boundsHandlers() {
	a.t.Helper()
	if n := a.most.Load(); n > attackedStreams {
		a.t.Errorf("%d handlers ran at once", n)
	}
}

// attacker connects a peer that reads what the server sends.
func (a *target) attacker(settings ...http2.Setting) *peer {
	a.t.Helper()
	p := a.deafAttacker(settings...)
	go p.read()
	p.expect("SETTINGS", "WINDOW_UPDATE 0", "SETTINGS ACK")
	return p
}

// deafAttacker connects a peer that does not read.
func (a *target) deafAttacker(settings ...http2.Setting) *peer {
	a.t.Helper()
	raw, err := net.Dial("tcp", a.Listener.Addr().String())
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { raw.Close() })
	cfg := clientTLS(a.Server)
	cfg.ServerName = "example.com" // as in httptest's certificate
	p := &peer{t: a.t, conn: tls.Client(raw, cfg), said: make(chan string, 100_000)}
	p.framer = http2.NewFramer(p.conn, p.conn)
	p.framer.AllowIllegalWrites = true
	p.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	p.enc = hpack.NewEncoder(&p.block)
	p.must(io.WriteString(p.conn, http2.ClientPreface))
	p.check(p.framer.WriteSettings(settings...))
	return p
}

// smallBuffers makes the kernel hold little of what a server sends.
func smallBuffers(s *http.Server) {
	s.ConnState = func(nc net.Conn, is http.ConnState) {
		if is == http.StateNew {
			nc.(*tls.Conn).NetConn().(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
}

// answered checks that the connection still answers a request.
func (p *peer) answered(id uint32) {
	p.t.Helper()
	p.request(id, true, "GET", "/")
	for got := ""; !strings.HasPrefix(got, "HEADERS ") || !strings.HasSuffix(got, " 200 END"); {
		if got = p.next(); got == "" || strings.HasPrefix(got, "GOAWAY") {
			p.t.Fatalf("got %q, want an answer", got)
		}
	}
}
