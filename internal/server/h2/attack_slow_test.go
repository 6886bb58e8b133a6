//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"fairlead.dev/internal/server/h2"
)

// TestUnreadHeads asks for one response without a body after another, each when the one before has been answered, and
// does not read. The server may hold 64 KB of heads; then handlers wait, requests beyond the limit are refused, and the
// timeout of the blocked write ends the connection.
func TestUnreadHeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handlers := 0
		p := dialUnread(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			handlers++
			w.Header().Set("Trailer", "End")
			w.Header().Set("End", "now")
		}), options{Options: h2.Options{WriteTimeout: time.Minute}})
		methods := []string{"HEAD", "GET"}
		for i := range 8000 {
			p.request(uint32(2*i+1), true, methods[i%2], "/")
			synctest.Wait()
		}
		if handlers < 200 || handlers > 6000 { // a head and its trailer have at least 20 bytes
			t.Errorf("%d handlers ran", handlers)
		}
		begin := time.Now()
		<-p.served
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("the connection ended after %v", d)
		}
	})
}

// TestSlowHeaders sends a header block byte by byte. Without a stream, the connection is idle until the block's end.
func TestSlowHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, echo, options{server: &http.Server{IdleTimeout: time.Minute}})
		begin := time.Now()
		err := p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}, EndStream: true})
		for ; err == nil; time.Sleep(7 * time.Second) {
			err = p.framer.WriteContinuation(1, false, []byte{0x84})
		}
		<-p.served
		if d := time.Since(begin); d > 80*time.Second {
			t.Errorf("after %v", d)
		}
		p.expect("GOAWAY 0 NO_ERROR", "")
	})
}

// TestSlowPreface sends the preface byte by byte.
func TestSlowPreface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo, h2.Install(&http.Server{}, h2.Options{}))
		go io.Copy(io.Discard, p.conn)
		begin := time.Now()
		for i, err := 0, error(nil); err == nil; i++ {
			_, err = io.WriteString(p.conn, http2.ClientPreface[i:i+1])
			time.Sleep(time.Second)
		}
		<-p.served
		if d := time.Since(begin); d > 12*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// TestDribble opens a stream's window by a byte at a time (data dribble, CVE-2019-9511). The handler's deadline ends
// the stream, and a source's stream ends by the timeout for unread data.
func TestDribble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newScript()
		p := dial(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/source" {
				ring, _ := h2.HandOver(w, src)
				src.ring = ring
				return
			}
			http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
			w.Write(make([]byte, 1000))
		}), options{
			Options:  h2.Options{WriteTimeout: time.Minute},
			settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 0}},
		})
		p.request(1, true, "GET", "/")
		p.request(3, true, "GET", "/source")
		for range 2 {
			if got := p.next(); got != "HEADERS 1 200" && got != "HEADERS 3 200" {
				t.Fatal(got)
			}
		}
		src.say("a long answer, which is to be read byte by byte", false)
		ended := map[string]bool{}
		for begin := time.Now(); time.Since(begin) < 2*time.Minute; time.Sleep(5 * time.Second) {
			p.check(p.framer.WriteWindowUpdate(1, 1))
			p.check(p.framer.WriteWindowUpdate(3, 1))
			synctest.Wait()
			for len(p.said) > 0 {
				ended[<-p.said] = true
			}
		}
		if !ended["RST_STREAM 1 INTERNAL_ERROR"] || !ended["RST_STREAM 3 INTERNAL_ERROR"] {
			t.Error(ended)
		}
		if got := p.got.Load(); got > 30 {
			t.Errorf("got %d bytes", got)
		}
		p.request(5, true, "HEAD", "/")
		p.expect("HEADERS 5 200 END")
	})
}
