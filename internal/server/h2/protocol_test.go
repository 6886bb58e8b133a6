//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// echo answers with the body.
var echo = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	io.Copy(w, req.Body)
})

// waits responds when the client has gone, and reports that on the channel.
type waits chan string

func (c waits) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	http.NewResponseController(w).Flush()
	<-req.Context().Done()
	_, err := io.ReadAll(req.Body)
	c <- req.Context().Err().Error() + "; " + err.Error()
}

func TestFrames(t *testing.T) {
	p := dial(t, echo, options{})
	p.request(1, true, "GET", "/")
	p.expect("HEADERS 1 200 END")
	p.request(3, false, "POST", "/")
	p.check(p.framer.WriteData(3, false, []byte("one ")))
	p.check(p.framer.WriteData(3, true, []byte("two")))
	p.expect("HEADERS 3 200", "DATA 3 one two END")
	p.check(p.framer.WritePing(false, [8]byte([]byte("12345678"))))
	p.expect("PING true 12345678")
	p.check(p.framer.WritePriority(5, http2.PriorityParam{StreamDep: 3}))
	p.check(p.framer.WriteRawFrame(0xbb, 0, 5, []byte("unknown")))
	p.request(7, true, "HEAD", "/")
	p.expect("HEADERS 7 200 END")
}

// TestLateBody checks that a response sent before the body arrives stands when the body arrives after it.
func TestLateBody(t *testing.T) {
	p := dial(t, http.NotFoundHandler(), options{})
	p.request(1, false, "POST", "/")
	p.expect("HEADERS 1 404", "DATA 1 404 page not found END", "RST_STREAM 1 NO_ERROR")
	p.check(p.framer.WriteData(1, false, []byte("one ")))
	p.check(p.framer.WriteData(1, true, []byte("two")))
	p.check(p.framer.WritePing(false, [8]byte([]byte("12345678"))))
	p.expect("PING true 12345678")
}

// TestProtocolErrors violates the protocol in many ways, and compares the server's reactions with RFC 9113.
func TestProtocolErrors(t *testing.T) {
	const protocol, flow, size, compression, closed, calm = "PROTOCOL_ERROR", "FLOW_CONTROL_ERROR", "FRAME_SIZE_ERROR", "COMPRESSION_ERROR", "STREAM_CLOSED", "ENHANCE_YOUR_CALM"
	raw := func(p *peer, t http2.FrameType, flags http2.Flags, id uint32, payload string) {
		p.check(p.framer.WriteRawFrame(t, flags, id, []byte(payload)))
	}
	open := func(p *peer) { // a stream whose body is yet to come
		p.request(1, false, "POST", "/", "expect", "100-continue")
		p.expect("HEADERS 1 100")
	}
	for _, q := range []struct {
		name string
		do   func(p *peer)
		want string
	}{
		{"headers on an even stream", func(p *peer) { p.request(2, true, "GET", "/") }, "GOAWAY 0 " + protocol},
		{"headers on stream 0", func(p *peer) { raw(p, http2.FrameHeaders, 5, 0, "\x82") }, "GOAWAY 0 " + protocol},
		{"data on stream 0", func(p *peer) { raw(p, http2.FrameData, 0, 0, "x") }, "GOAWAY 0 " + protocol},
		{"data on an idle stream", func(p *peer) { raw(p, http2.FrameData, 0, 1, "x") }, "GOAWAY 0 " + protocol},
		{"reset of an idle stream", func(p *peer) { raw(p, http2.FrameRSTStream, 0, 1, "\x00\x00\x00\x08") }, "GOAWAY 0 " + protocol},
		{"window of an idle stream", func(p *peer) { raw(p, http2.FrameWindowUpdate, 0, 1, "\x00\x00\x00\x08") }, "GOAWAY 0 " + protocol},
		{"window by 0", func(p *peer) { raw(p, http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x00") }, "GOAWAY 0 " + protocol},
		{"window by 0 of a stream", func(p *peer) { open(p); raw(p, http2.FrameWindowUpdate, 0, 1, "\x00\x00\x00\x00") }, "RST_STREAM 1 " + protocol},
		{"window of the connection overflows", func(p *peer) { p.check(p.framer.WriteWindowUpdate(0, 1<<31-1)) }, "GOAWAY 0 " + flow},
		{"window of a stream overflows", func(p *peer) { open(p); p.check(p.framer.WriteWindowUpdate(1, 1<<31-1)) }, "RST_STREAM 1 " + flow},
		{"initial window overflows a stream's", func(p *peer) {
			open(p)
			p.check(p.framer.WriteWindowUpdate(1, 1<<30))
			p.check(p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1}))
		}, "GOAWAY 1 " + flow},
		{"window too short", func(p *peer) { raw(p, http2.FrameWindowUpdate, 0, 0, "\x00\x00") }, "GOAWAY 0 " + size},
		{"ping too short", func(p *peer) { raw(p, http2.FramePing, 0, 0, "123") }, "GOAWAY 0 " + size},
		{"ping on a stream", func(p *peer) { raw(p, http2.FramePing, 0, 1, "12345678") }, "GOAWAY 0 " + protocol},
		{"settings of odd length", func(p *peer) { raw(p, http2.FrameSettings, 0, 0, "12345") }, "GOAWAY 0 " + size},
		{"settings on a stream", func(p *peer) { raw(p, http2.FrameSettings, 0, 1, "") }, "GOAWAY 0 " + protocol},
		{"settings out of range", func(p *peer) {
			p.check(p.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}))
		}, "GOAWAY 0 " + protocol},
		{"too many settings", func(p *peer) { p.check(p.framer.WriteSettings(make([]http2.Setting, 101)...)) }, "GOAWAY 0 " + protocol},
		{"acknowledged nothing", func(p *peer) { p.check(p.framer.WriteSettingsAck()) }, "GOAWAY 0 " + protocol},
		{"push", func(p *peer) { raw(p, http2.FramePushPromise, 4, 1, "\x00\x00\x00\x02") }, "GOAWAY 0 " + protocol},
		{"continuation of nothing", func(p *peer) { raw(p, http2.FrameContinuation, 4, 1, "\x82") }, "GOAWAY 0 " + protocol},
		{"headers interrupted", func(p *peer) { raw(p, http2.FrameHeaders, 0, 1, "\x82"); raw(p, http2.FramePing, 0, 0, "12345678") }, "GOAWAY 0 " + protocol},
		{"headers that do not decompress", func(p *peer) { raw(p, http2.FrameHeaders, 5, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff") }, "GOAWAY 0 " + compression},
		{"frame too long", func(p *peer) { // a server may stop reading at the frame's header
			p.must(p.conn.Write([]byte{0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1}))
		}, "GOAWAY 0 " + size},
		{"stream that was passed by", func(p *peer) {
			p.request(5, true, "GET", "/")
			p.expect("HEADERS 5 200 END")
			p.request(3, true, "GET", "/")
		}, "GOAWAY 5 " + protocol},
		{"no path", func(p *peer) { p.headers(1, true, ":method", "GET", ":scheme", "https") }, "RST_STREAM 1 " + protocol},
		{"path that is none", func(p *peer) { p.request(1, true, "GET", "over there") }, "RST_STREAM 1 " + protocol},
		{"scheme that is none", func(p *peer) { p.headers(1, true, ":method", "GET", ":scheme", "gopher", ":path", "/") }, "RST_STREAM 1 " + protocol},
		{"no such pseudo-header", func(p *peer) { p.request(1, true, "GET", "/", ":color", "red") }, "RST_STREAM 1 " + protocol},
		{"extended connect", func(p *peer) { p.request(1, true, "CONNECT", "/", ":protocol", "websocket") }, "RST_STREAM 1 " + protocol},
		{"pseudo-header too late", func(p *peer) { p.headers(1, true, ":method", "GET", "a", "b", ":path", "/", ":scheme", "https") }, "RST_STREAM 1 " + protocol},
		{"pseudo-header said twice", func(p *peer) { p.request(1, true, "GET", "/", ":path", "/") }, "RST_STREAM 1 " + protocol},
		{"header in upper case", func(p *peer) { p.request(1, true, "GET", "/", "Accept", "x") }, "RST_STREAM 1 " + protocol},
		{"header with a line feed", func(p *peer) { p.request(1, true, "GET", "/", "accept", "x\ny") }, "RST_STREAM 1 " + protocol},
		{"another host", func(p *peer) { p.request(1, true, "GET", "/", "host", "other") }, "RST_STREAM 1 " + protocol},
		{"user in the authority", func(p *peer) {
			p.headers(1, true, ":method", "GET", ":scheme", "https", ":path", "/", ":authority", "me@server")
		}, "RST_STREAM 1 " + protocol},
		{"stream that depends on itself", func(p *peer) { p.check(p.framer.WritePriority(1, http2.PriorityParam{StreamDep: 1})) }, "RST_STREAM 1 " + protocol},
		{"data after the end", func(p *peer) {
			p.request(1, true, "POST", "/")
			p.expect("HEADERS 1 200 END")
			raw(p, http2.FrameData, 0, 1, "x")
		}, "RST_STREAM 1 " + closed},
		{"headers after the end", func(p *peer) {
			p.request(1, true, "POST", "/")
			p.expect("HEADERS 1 200 END")
			p.headers(1, true, "a", "b")
		}, "RST_STREAM 1 " + closed},
		{"trailers that do not end", func(p *peer) { open(p); p.headers(1, false, "a", "b") }, "RST_STREAM 1 " + protocol},
		{"trailers with a pseudo-header", func(p *peer) { open(p); p.headers(1, true, ":path", "/") }, "RST_STREAM 1 " + protocol},
		{"trailer that is no trailer", func(p *peer) { open(p); p.headers(1, true, "content-length", "1") }, "RST_STREAM 1 " + protocol},
		{"more than was announced", func(p *peer) {
			p.request(1, false, "POST", "/", "content-length", "3", "expect", "100-continue")
			p.expect("HEADERS 1 100")
			raw(p, http2.FrameData, 0, 1, "four")
		}, "RST_STREAM 1 " + protocol},
		{"padding longer than the frame", func(p *peer) { open(p); raw(p, http2.FrameData, 8, 1, "\xffx") }, "GOAWAY 1 " + protocol},
	} {
		t.Run(q.name, func(t *testing.T) {
			p := dial(t, echo, options{})
			q.do(p)
			p.expect(q.want)
			if strings.HasPrefix(q.want, "RST") {
				// Other streams are not affected.
				p.request(101, true, "GET", "/")
				for got := ""; got != "HEADERS 101 200 END"; {
					if got = p.next(); got == "" || strings.HasPrefix(got, "GOAWAY") {
						t.Fatal("the connection has ended")
					}
				}
				return
			}
			p.conn.Close()
			<-p.served
		})
	}
}

// TestClosedAfterGoAway checks that the server closes the connection of a client that stays after GOAWAY.
func TestClosedAfterGoAway(t *testing.T) {
	p := dial(t, echo, options{})
	p.check(p.framer.WriteSettingsAck())
	p.expect("GOAWAY 0 PROTOCOL_ERROR", "")
	<-p.served
}

func TestNotHTTP2(t *testing.T) {
	s := serve(t, echo)
	cfg := clientTLS(s)
	conn := dialTLS(t, s, cfg)
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: server\r\n\r\n")
	data, _ := io.ReadAll(conn)
	if bytes.Contains(data, []byte("HTTP/1.1 200")) {
		t.Errorf("%q", data)
	}
}

// TestCipherSuites checks that cipher suites unfit for HTTP/2 are refused.
func TestCipherSuites(t *testing.T) {
	s := serve(t, echo)
	for suite, want := range map[uint16]string{
		tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA:    "GOAWAY 0 INADEQUATE_SECURITY",
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "SETTINGS",
	} {
		cfg := clientTLS(s)
		cfg.MaxVersion, cfg.CipherSuites = tls.VersionTLS12, []uint16{suite}
		f, err := http2.NewFramer(nil, dialTLS(t, s, cfg)).ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if got := words(f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTooManyHeaders(t *testing.T) {
	p := dial(t, echo, options{server: &http.Server{MaxHeaderBytes: 1000}})
	p.request(1, true, "GET", "/", "a", strings.Repeat("b", 700), "c", strings.Repeat("d", 700))
	p.expect("HEADERS 1 431")
}

func TestTooManyStreams(t *testing.T) {
	h := waits(make(chan string, 10))
	p := dial(t, h, options{server: &http.Server{HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 2}}})
	for id := uint32(1); id < 6; id += 2 {
		p.request(id, false, "POST", "/")
	}
	seen := map[string]bool{p.next(): true, p.next(): true, p.next(): true}
	if !seen["HEADERS 1 200"] || !seen["HEADERS 3 200"] || !seen["RST_STREAM 5 REFUSED_STREAM"] {
		t.Fatal(seen)
	}
	p.check(p.framer.WriteRSTStream(1, http2.ErrCodeCancel))
	if got := <-h; got != "context canceled; stream error: stream ID 1; CANCEL" {
		t.Error(got)
	}
	p.request(7, false, "POST", "/")
	p.expect("HEADERS 7 200")
	p.conn.Close()
	for range 2 {
		if got := <-h; got != "context canceled; h2: the client has disconnected" {
			t.Error(got)
		}
	}
}
