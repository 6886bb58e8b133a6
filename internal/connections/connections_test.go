package connections_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"fairlead.dev/internal/connections"
	"fairlead.dev/internal/memnet"
)

// failing is a listener whose next attempts to accept fail.
type failing struct {
	net.Listener
	errors []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errors) > 0 {
		err := f.errors[0]
		f.errors = f.errors[1:]
		return nil, err
	}
	return f.Listener.Accept()
}

func lack() error { return &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE} }

// TestPatient: a lack of file descriptors is waited out, with one line in the log, and the end of the listener is an error.
func TestPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		inner, err := network.Listen("127.0.0.1:6443")
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		l := connections.Patient(&failing{inner, []error{lack(), lack(), lack()}}, slog.New(slog.NewTextHandler(&log, nil)))
		began := time.Now()
		go network.Dial(t.Context(), "tcp", "127.0.0.1:6443")
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if waited := time.Since(began); waited != 35*time.Millisecond {
			t.Errorf("three failures take %v", waited)
		}
		if n := strings.Count(log.String(), "too many open files"); n != 1 {
			t.Errorf("%d lines in the log:\n%s", n, &log)
		}
		inner.Close()
		if _, err := l.Accept(); err == nil {
			t.Error("a closed listener accepts")
		}
	})
}

// TestLimit: beyond the limit a new connection replaces the oldest one whose client has not authenticated, and is refused if all
// clients have.
func TestLimit(t *testing.T) {
	limit := connections.NewLimit(3)
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ConnContext: connections.Context, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/known" {
			connections.Authenticated(r.Context())
		}
	})}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(limit.Listener(inner)) }()
	defer func() {
		s.Close()
		<-ended
	}()
	open := func() *http.Client {
		tr := &http.Transport{}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}
	get := func(c *http.Client, path string) error {
		resp, err := c.Get("http://" + inner.Addr().String() + path)
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		return err
	}
	dropped := func() string {
		text, err := testutil.CollectAndFormat(limit, expfmt.TypeTextPlain, "fairlead_connections", "fairlead_dropped_connections_total")
		if err != nil {
			t.Fatal(err)
		}
		var values []string
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				values = append(values, strings.TrimSpace(line[strings.LastIndex(line, " "):]))
			}
		}
		return strings.Join(values, " ")
	}

	silent, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	known := []*http.Client{open(), open(), open()}
	for i, c := range known {
		if err := get(c, "/known"); err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the connection without a request is still open")
	}
	if got := dropped(); got != "3 0 1" { // open, refused, replaced
		t.Errorf("open, refused, replaced: %s", got)
	}
	if err := get(open(), "/other"); err == nil {
		t.Error("a fourth connection beside three of known clients is served")
	}
	for i, c := range known {
		if err := get(c, "/other"); err != nil {
			t.Errorf("client %d, which was known: %v", i, err)
		}
	}
	known[0].CloseIdleConnections()
	for get(open(), "/other") != nil && t.Context().Err() == nil { // until the server has seen the end
	}
	if got := dropped(); !strings.HasPrefix(got, "3 ") || !strings.HasSuffix(got, " 1") {
		t.Errorf("open, refused, replaced: %s", got)
	}
}
