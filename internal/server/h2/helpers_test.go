//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"fairlead.dev/internal/server/h2"
)

// serve starts a server over TLS. change may configure the http.Server.
func serve(t testing.TB, h http.Handler, change ...func(*http.Server)) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet
	for _, f := range change {
		f(s.Config)
	}
	h2.Install(s.Config, h2.Options{})
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// quiet discards the server's log.
var quiet = log.New(io.Discard, "", 0)

// peer is a client that sends raw frames. It reads in a goroutine of its own, so that it never holds up the server
// unless a test wants that.
type peer struct {
	t      testing.TB
	conn   net.Conn
	framer *http2.Framer
	block  bytes.Buffer
	enc    *hpack.Encoder
	// said holds the received frames, formatted. It is closed with the connection.
	said chan string
	// got counts the received bytes of data.
	got atomic.Int64
	// served is closed when Serve has returned.
	served chan struct{}
}

type options struct {
	h2.Options
	server *http.Server // nil is a server without settings
	// settings of the client.
	settings []http2.Setting
}

// dial connects a peer to a handler, without TLS or a socket.
func dial(t testing.TB, h http.Handler, o options) *peer {
	t.Helper()
	return dialOn(t, h, h2.Install(server(t, o), o.Options), o)
}

func server(t testing.TB, o options) *http.Server {
	if o.server == nil {
		o.server = &http.Server{}
	}
	o.server.ErrorLog = quiet
	return o.server
}

// connect is dial before the preface.
func connect(t testing.TB, h http.Handler, s *h2.Server) *peer {
	ours, theirs := net.Pipe()
	return connectBy(t, h, s, ours, theirs)
}

// connectBy is connect by the two ends of a connection.
func connectBy(t testing.TB, h http.Handler, s *h2.Server, ours, theirs net.Conn) *peer {
	p := &peer{t: t, conn: ours, said: make(chan string, 100_000), served: make(chan struct{})}
	go func() {
		defer close(p.served)
		s.Serve(context.Background(), theirs, nil, h)
	}()
	p.framer = http2.NewFramer(ours, ours)
	p.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	p.enc = hpack.NewEncoder(&p.block)
	t.Cleanup(func() {
		ours.Close()
		<-p.served
	})
	return p
}

func dialOn(t testing.TB, h http.Handler, s *h2.Server, o options) *peer {
	t.Helper()
	p := connect(t, h, s)
	p.begin(o)
	return p
}

// begin sends the preface and reads from then on.
func (p *peer) begin(o options) {
	p.t.Helper()
	go p.read()
	p.must(io.WriteString(p.conn, http2.ClientPreface))
	p.check(p.framer.WriteSettings(o.settings...))
	p.expect("SETTINGS", "WINDOW_UPDATE 0", "SETTINGS ACK")
	p.check(p.framer.WriteSettingsAck())
}

func (p *peer) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) must(_ int, err error) {
	p.t.Helper()
	p.check(err)
}

func (p *peer) read() {
	defer close(p.said)
	for {
		f, err := p.framer.ReadFrame()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
				p.said <- err.Error()
			}
			return
		}
		if d, ok := f.(*http2.DataFrame); ok {
			p.got.Add(int64(len(d.Data())))
		}
		p.said <- words(f)
	}
}

// words formats a frame.
func words(f http2.Frame) string {
	id := f.Header().StreamID
	end := ""
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		if f.StreamEnded() {
			end = " END"
		}
		if len(f.PseudoFields()) == 0 {
			var fields []string
			for _, hf := range f.Fields {
				fields = append(fields, hf.Name+"="+hf.Value)
			}
			return fmt.Sprint("TRAILERS ", id, " ", strings.Join(fields, " "), end)
		}
		return fmt.Sprint("HEADERS ", id, " ", f.PseudoValue("status"), end)
	case *http2.DataFrame:
		if f.StreamEnded() {
			end = " END"
		}
		if len(f.Data()) > 40 {
			return fmt.Sprint("DATA ", id, " (", len(f.Data()), ")", end)
		}
		return strings.TrimSpace(fmt.Sprint("DATA ", id, " ", string(f.Data()))) + end
	case *http2.RSTStreamFrame:
		return fmt.Sprint("RST_STREAM ", id, " ", f.ErrCode)
	case *http2.GoAwayFrame:
		return fmt.Sprint("GOAWAY ", f.LastStreamID, " ", f.ErrCode)
	case *http2.SettingsFrame:
		if f.IsAck() {
			return "SETTINGS ACK"
		}
		return "SETTINGS"
	case *http2.PingFrame:
		return fmt.Sprint("PING ", f.IsAck(), " ", string(f.Data[:]))
	case *http2.WindowUpdateFrame:
		return fmt.Sprint("WINDOW_UPDATE ", id)
	}
	return f.Header().Type.String()
}

// next returns the next received frame, or "" if the connection has ended.
func (p *peer) next() string {
	p.t.Helper()
	select {
	case s := <-p.said:
		return s
	case <-time.After(time.Minute):
		p.t.Fatal("no frame comes")
		return ""
	}
}

// long waits for a frame without a time limit.
func (p *peer) long(want string) {
	p.t.Helper()
	if got := <-p.said; got != want {
		p.t.Fatalf("got %q, want %q", got, want)
	}
}

func (p *peer) expect(want ...string) {
	p.t.Helper()
	for _, w := range want {
		if got := p.next(); got != w {
			p.t.Fatalf("got %q, want %q", got, w)
		}
	}
}

// request opens a stream; fields are name, value, name, value.
func (p *peer) request(id uint32, end bool, method, path string, fields ...string) {
	p.t.Helper()
	all := append([]string{":method", method, ":scheme", "https", ":authority", "server", ":path", path}, fields...)
	p.headers(id, end, all...)
}

func (p *peer) headers(id uint32, end bool, fields ...string) {
	p.t.Helper()
	p.check(p.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: p.encode(fields...), EndStream: end, EndHeaders: true,
	}))
}

func (p *peer) encode(fields ...string) []byte {
	p.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		p.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return p.block.Bytes()
}

// dialUnread connects a peer that does not read after the SETTINGS.
func dialUnread(t testing.TB, h http.Handler, o options) *peer {
	t.Helper()
	p := connect(t, h, h2.Install(server(t, o), o.Options))
	wrote := make(chan error, 1)
	go func() {
		if _, err := io.WriteString(p.conn, http2.ClientPreface); err != nil {
			wrote <- err
			return
		}
		wrote <- p.framer.WriteSettings(o.settings...)
	}()
	for range 3 {
		if _, err := p.framer.ReadFrame(); err != nil {
			t.Fatal(err)
		}
	}
	p.check(<-wrote)
	return p
}

func clientTLS(s *httptest.Server) *tls.Config {
	cfg := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	cfg.NextProtos = []string{"h2"}
	return cfg
}

func dialTLS(t testing.TB, s *httptest.Server, cfg *tls.Config) *tls.Conn {
	t.Helper()
	conn, err := tls.Dial("tcp", s.Listener.Addr().String(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
