//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"fairlead.dev/internal/server/h2"
)

func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, echo, options{server: &http.Server{IdleTimeout: time.Minute}})
		time.Sleep(50 * time.Second)
		p.request(1, true, "GET", "/")
		p.expect("HEADERS 1 200 END")
		begin := time.Now()
		p.long("GOAWAY 1 NO_ERROR")
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("after %v", d)
		}
		p.expect("")
		<-p.served
	})
}

// TestPrefaceTimeout checks that a silent client is disconnected after a while.
func TestPrefaceTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo, h2.Install(&http.Server{}, h2.Options{}))
		go io.Copy(io.Discard, p.conn)
		begin := time.Now()
		<-p.served
		if d := time.Since(begin); d != 10*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// TestWriteDeadline ends a stream whose window the client does not open.
func TestWriteDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		p := dial(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
			_, err := w.Write(make([]byte, 20_000))
			failed <- err
		}), options{settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 10_000}}})
		begin := time.Now()
		p.request(1, true, "GET", "/")
		p.expect("HEADERS 1 200", "DATA 1 (10000)")
		if err := <-failed; err == nil {
			t.Error("the write has ended well")
		}
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("after %v", d)
		}
		p.expect("RST_STREAM 1 INTERNAL_ERROR")
		p.request(3, true, "HEAD", "/")
		p.expect("HEADERS 3 200", "DATA 3 END")
	})
}

// TestReadDeadline ends a read that waits for more of a body.
func TestReadDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		p := dial(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute))
			_, err := io.ReadAll(req.Body)
			failed <- err
		}), options{})
		begin := time.Now()
		p.request(1, false, "POST", "/")
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("after %v", d)
		}
		p.expect("HEADERS 1 200 END", "RST_STREAM 1 NO_ERROR")
	})
}

// TestUnreadConnection checks that a peer that does not read loses the connection, and that its handlers return.
func TestUnreadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 2)
		p := dialUnread(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			var err error
			for err == nil {
				_, err = w.Write(make([]byte, 20_000))
			}
			failed <- err
		}), options{Options: h2.Options{WriteTimeout: time.Minute}, settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 1 << 30}}})
		p.check(p.framer.WriteWindowUpdate(0, 1<<30))
		begin := time.Now()
		p.request(1, true, "GET", "/")
		p.request(3, true, "GET", "/")
		<-failed
		<-failed
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("after %v", d)
		}
		<-p.served
	})
}
