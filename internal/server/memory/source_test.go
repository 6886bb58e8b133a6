package memory_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"fairlead.dev/internal/server/h2"
	"fairlead.dev/internal/server/memory"
)

// tape is a source of the lines that were put on it. Its fields are guarded by the lock.
type tape struct {
	t *testing.T
	sync.Mutex
	lines  []string
	end    error
	block  chan struct{} // if set, Next waits for it
	closed []error
	busy   bool
	ring   func()
}

func (s *tape) Next(dst []byte, limit int) (_ []byte, more bool, err error) {
	s.Lock()
	if s.busy || len(s.closed) > 0 {
		s.t.Error("Next is called twice at a time, or after Close")
	}
	s.busy = true
	block := s.block
	s.Unlock()
	if block != nil {
		<-block
	}
	s.Lock()
	defer s.Unlock()
	s.busy = false
	for len(dst) < limit && len(s.lines) > 0 {
		dst, s.lines = append(dst, s.lines[0]...), s.lines[1:]
	}
	if len(s.lines) > 0 {
		return dst, true, nil
	}
	return dst, false, s.end
}

func (s *tape) Close(err error) {
	s.Lock()
	defer s.Unlock()
	if s.busy {
		s.t.Error("Close is called during Next")
	}
	s.closed = append(s.closed, err)
}

// put adds lines, and if end is set they are the last.
func (s *tape) put(end error, lines ...string) {
	s.Lock()
	s.lines, s.end = append(s.lines, lines...), end
	s.Unlock()
	s.ring()
}

// wasClosed checks that the source has been closed once, for a reason that fits.
func (s *tape) wasClosed(fits func(error) bool) {
	s.t.Helper()
	s.Lock()
	defer s.Unlock()
	if len(s.closed) != 1 || !fits(s.closed[0]) {
		s.t.Errorf("the source was closed with %v", s.closed)
	}
}

// open begins a watch of a source.
func open(ctx context.Context, s *tape) *http.Response {
	s.t.Helper()
	rt := memory.New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ring, ok := h2.HandOver(w, s)
		if !ok {
			s.t.Error("the response takes no source")
		}
		s.ring = ring
	}), nil)
	req, err := http.NewRequestWithContext(ctx, "GET", "http://memory/api/v1/pods?watch=1", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatal(resp, err)
	}
	synctest.Wait()
	return resp
}

func isNil(err error) bool      { return err == nil }
func isCanceled(err error) bool { return errors.Is(err, context.Canceled) }

// TestHandOver reads a response that its handler has left: more than is buffered at first, then lines as they come, and the end.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := strings.Split(strings.Repeat("a line at the beginning\n|", 10_000), "|")
		s := &tape{t: t, lines: first}
		resp := open(t.Context(), s)
		defer resp.Body.Close()
		want := strings.Join(first, "")
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("the beginning is wrong: %v", err)
		}
		for _, line := range []string{"one\n", strings.Repeat("long", 50_000)} {
			s.put(nil, line)
			got := make([]byte, len(line))
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != line {
				t.Fatalf("read %.20q, want %.20q: %v", got, line, err)
			}
		}
		s.put(io.EOF, "last\n")
		if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "last\n" {
			t.Fatalf("the rest is %q: %v", rest, err)
		}
		s.wasClosed(isNil)
	})
}

// TestHandOverCutOff checks that a reader can tell a response that is cut off from one that ends.
func TestHandOverCutOff(t *testing.T) {
	for name, atOnce := range map[string]bool{"AtOnce": true, "Later": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &tape{t: t}
				if atOnce {
					s.end = http.ErrAbortHandler
				}
				resp := open(t.Context(), s)
				defer resp.Body.Close()
				if !atOnce {
					s.put(http.ErrAbortHandler)
				}
				if _, err := io.ReadAll(resp.Body); err != io.ErrUnexpectedEOF {
					t.Errorf("the end is %v", err)
				}
				s.wasClosed(isNil)
			})
		})
	}
}

// TestHandOverAbandoned checks that a source is closed when its reader goes away: while it waits, while it is asked, with a full
// buffer, or without ever reading.
func TestHandOverAbandoned(t *testing.T) {
	leave := map[string]func(*http.Response, context.CancelFunc){
		"Close":  func(resp *http.Response, _ context.CancelFunc) { resp.Body.Close() },
		"Cancel": func(_ *http.Response, cancel context.CancelFunc) { cancel() },
	}
	for how, leave := range leave {
		for _, state := range []string{"Idle", "Reading", "Asking", "Full"} {
			t.Run(how+state, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					s := &tape{t: t}
					if state == "Full" {
						s.lines = []string{strings.Repeat("x", 100<<10), strings.Repeat("y", 100<<10)}
					}
					resp := open(ctx, s)
					ended := make(chan error, 1)
					if state == "Asking" {
						s.Lock()
						s.block = make(chan struct{})
						s.Unlock()
					}
					if state == "Reading" || state == "Asking" {
						go func() {
							_, err := io.ReadAll(resp.Body)
							ended <- err
						}()
						synctest.Wait()
					}
					leave(resp, cancel)
					synctest.Wait()
					if state == "Asking" {
						close(s.block)
						synctest.Wait()
					}
					s.wasClosed(func(err error) bool { return err != nil })
					if state == "Reading" || state == "Asking" {
						if err := <-ended; !isCanceled(err) {
							t.Errorf("the reader's end is %v", err)
						}
					}
				})
			})
		}
	}
}
