//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"fairlead.dev/internal/server/h2"
)

// script is a Source that returns the data a test writes to it.
type script struct {
	mu     sync.Mutex
	ring   func()
	text   strings.Builder
	ended  bool
	inside bool
	closed chan error
}

func newScript() *script { return &script{closed: make(chan error, 1)} }

func (s *script) Next(dst []byte, limit int) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside {
		panic("asked twice at once")
	}
	dst = append(dst, s.text.String()...)
	s.text.Reset()
	if s.ended {
		return dst, false, io.EOF
	}
	return dst, false, nil
}

func (s *script) Close(err error) { s.closed <- err }

func (s *script) say(text string, end bool) {
	s.mu.Lock()
	s.text.WriteString(text)
	s.ended = end
	s.mu.Unlock()
	s.ring()
}

// handing is a handler that passes each response to a script.
type handing struct{ to chan *script }

func newHanding() handing { return handing{make(chan *script, 1000)} }

func (h handing) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s := newScript()
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "head\n")
	ring, ok := h2.HandOver(w, s)
	if !ok {
		panic("not ours")
	}
	s.ring = ring
	h.to <- s
}

func TestHandOver(t *testing.T) {
	h := newHanding()
	p := dial(t, h, options{})
	p.request(1, true, "GET", "/")
	a := <-h.to
	p.expect("HEADERS 1 200", "DATA 1 head")
	a.say("one", false)
	p.expect("DATA 1 one")
	p.request(3, true, "GET", "/")
	b := <-h.to
	p.expect("HEADERS 3 200", "DATA 3 head")
	b.say("two", false)
	p.expect("DATA 3 two")
	a.say(strings.Repeat("x", 40_000), false)
	p.expect("DATA 1 (16384)", "DATA 1 (16384)", "DATA 1 (7232)")
	a.say("last", true)
	p.expect("DATA 1 last", "DATA 1 END")
	if err := <-a.closed; err != nil {
		t.Error(err)
	}
	a.say("after", false)
	p.check(p.framer.WriteRSTStream(3, http2.ErrCodeCancel))
	var se http2.StreamError
	if err := <-b.closed; !errors.As(err, &se) || se.Code != http2.ErrCodeCancel {
		t.Error(err)
	}
	b.say("after", true)
	p.request(5, true, "GET", "/")
	c := <-h.to
	p.expect("HEADERS 5 200", "DATA 5 head")
	c.say("", true)
	p.expect("DATA 5 END")
	if err := <-c.closed; err != nil {
		t.Error(err)
	}
	p.request(7, true, "GET", "/")
	d := <-h.to
	p.conn.Close()
	if err := <-d.closed; err == nil {
		t.Error("the end of the connection is a good end")
	}
	d.say("after", false)
}

// breaks is a Source that fails.
type breaks struct{ closed chan error }

func (b breaks) Next(dst []byte, limit int) ([]byte, bool, error) {
	return append(dst, "half"...), false, http.ErrAbortHandler
}

func (b breaks) Close(err error) { b.closed <- err }

// TestHandOverAbort checks that an aborted response is not ended as if it were complete.
func TestHandOverAbort(t *testing.T) {
	src := breaks{make(chan error, 1)}
	p := dial(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { h2.HandOver(w, src) }), options{})
	p.request(1, true, "GET", "/")
	p.expect("HEADERS 1 200", "DATA 1 half", "RST_STREAM 1 INTERNAL_ERROR")
	if err := <-src.closed; err != http.ErrAbortHandler {
		t.Error(err)
	}
}

// endless is a Source that always has more; each piece is the number of bytes before it.
type endless struct{ at, until int }

func (e *endless) Next(dst []byte, limit int) ([]byte, bool, error) {
	for n := 0; n < limit; n += 8 {
		if e.at == e.until {
			return dst, false, io.EOF
		}
		dst = fmt.Appendf(dst, "%08d", e.at)
		e.at += 8
	}
	return dst, true, nil
}

func (e *endless) Close(error) {}

// TestHandOverBulk checks that long responses in parallel arrive whole, however they are cut into frames and
// records.
func TestHandOverBulk(t *testing.T) {
	const until = 8 * 60_007
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.WriteString(w, "begin")
		h2.HandOver(w, &endless{until: until})
	}))
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			resp, err := s.Client().Get(s.URL)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			data, err := io.ReadAll(resp.Body)
			if err != nil || len(data) != until+5 || string(data[:5]) != "begin" {
				t.Errorf("%d bytes, %v", len(data), err)
				return
			}
			for at := 0; at < until; at += 8 {
				if string(data[5+at:13+at]) != fmt.Sprintf("%08d", at) {
					t.Errorf("%q at %d", data[5+at:13+at], at)
					return
				}
			}
		})
	}
	readers.Wait()
}

// TestHandOverWindows checks that a stream without credit waits, and that others do not.
func TestHandOverWindows(t *testing.T) {
	h := newHanding()
	p := dial(t, h, options{settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 15}}})
	p.request(1, true, "GET", "/")
	a := <-h.to
	p.expect("HEADERS 1 200", "DATA 1 head")
	p.request(3, true, "GET", "/")
	b := <-h.to
	p.expect("HEADERS 3 200", "DATA 3 head")
	a.say("0123456789abcde", false)
	p.expect("DATA 1 0123456789")
	b.say("free", false)
	p.expect("DATA 3 free")
	a.say("f", true)
	p.check(p.framer.WriteWindowUpdate(1, 3))
	p.expect("DATA 1 abc")
	p.check(p.framer.WriteWindowUpdate(1, 3))
	p.expect("DATA 1 de", "DATA 1 f END")
	if err := <-a.closed; err != nil {
		t.Error(err)
	}
}

// TestHandOverConnectionWindow checks that all streams wait for the connection's window, and all go on.
func TestHandOverConnectionWindow(t *testing.T) {
	const n = 20
	h := newHanding()
	p := dial(t, h, options{settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 1 << 20}}})
	var all []*script
	for i := range n {
		p.request(uint32(2*i+1), true, "GET", "/")
		all = append(all, <-h.to)
	}
	for _, s := range all {
		s.say(strings.Repeat("x", 9_995), true)
	}
	var credited int64
	for ended := 0; ended < n; {
		if strings.HasSuffix(p.next(), " END") {
			ended++
		}
		if got := p.got.Load(); got > credited {
			p.check(p.framer.WriteWindowUpdate(0, uint32(got-credited)))
			credited = got
		}
	}
	if got := p.got.Load(); got != n*10_000 {
		t.Errorf("%d bytes", got)
	}
}

// TestHandOverStuck checks that a client that does not read a stream loses that stream and no other.
func TestHandOverStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHanding()
		p := dial(t, h, options{Options: h2.Options{WriteTimeout: time.Minute}, settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 10}}})
		p.request(1, true, "GET", "/")
		a := <-h.to
		p.expect("HEADERS 1 200", "DATA 1 head")
		begin := time.Now()
		a.say("0123456789", false)
		p.expect("DATA 1 01234")
		if err := <-a.closed; err != h2.ErrStuck {
			t.Error(err)
		}
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("after %v", d)
		}
		p.expect("RST_STREAM 1 INTERNAL_ERROR")
		p.request(3, true, "GET", "/")
		b := <-h.to
		p.expect("HEADERS 3 200", "DATA 3 head")
		b.say("", true)
		p.expect("DATA 3 END")
	})
}

// TestHandOverUnreadConnection checks that a client that does not read the connection loses all its streams.
func TestHandOverUnreadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHanding()
		p := dialUnread(t, h, options{Options: h2.Options{WriteTimeout: time.Minute}})
		begin := time.Now()
		p.request(1, true, "GET", "/")
		a := <-h.to
		a.say("unheard", false)
		if err := <-a.closed; err != h2.ErrStuck {
			t.Error(err)
		}
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("after %v", d)
		}
		<-p.served
	})
}

// TestHandOverShutdown checks that shutdown does not end a connection whose responses go on.
func TestHandOverShutdown(t *testing.T) {
	h := newHanding()
	hs := &http.Server{}
	p := dialOn(t, h, h2.Install(hs, h2.Options{}), options{})
	p.request(1, true, "GET", "/")
	a := <-h.to
	p.expect("HEADERS 1 200", "DATA 1 head")
	hs.Shutdown(t.Context())
	p.expect("GOAWAY 1 NO_ERROR")
	a.say("more", false)
	p.expect("DATA 1 more")
	p.request(3, true, "GET", "/")
	a.say("last", true)
	p.expect("DATA 1 last END", "")
	<-p.served
}

// TestHandOverManySources rings many sources from many goroutines; each client must read its own data, in order.
func TestHandOverManySources(t *testing.T) {
	const n, words = 200, 300
	h := newHanding()
	s := serve(t, h)
	var readers, writers sync.WaitGroup
	for range n {
		resp, err := s.Client().Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		src := <-h.to
		writers.Go(func() {
			for i := range words {
				src.say(fmt.Sprintln(i, strings.Repeat("x", i%50*20)), i == words-1)
			}
		})
		readers.Go(func() {
			defer resp.Body.Close()
			data, err := io.ReadAll(resp.Body)
			lines := strings.Split(string(data), "\n")
			if err != nil || len(lines) != words+2 {
				t.Error(len(lines), err)
				return
			}
			for i := range words {
				if !strings.HasPrefix(lines[i+1], fmt.Sprint(i, " ")) {
					t.Errorf("%q where %d should be", lines[i+1], i)
					return
				}
			}
			if err := <-src.closed; err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	readers.Wait()
}
