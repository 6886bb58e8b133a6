//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"fmt"
	"testing"

	"golang.org/x/net/http2"
)

// TestResetAttacks opens streams and has each reset at once while its handler goes on: by the client (rapid reset,
// CVE-2023-44487), or by the server, which an invalid frame provokes (MadeYouReset, CVE-2025-8671). A stream whose
// handler still runs must count: beyond the limit streams wait, and more of these end the connection.
func TestResetAttacks(t *testing.T) {
	for name, provoke := range map[string]func(p *peer, id uint32) error{
		"the client resets": func(p *peer, id uint32) error { return p.framer.WriteRSTStream(id, http2.ErrCodeCancel) },
		"window update by 0": func(p *peer, id uint32) error {
			return p.framer.WriteRawFrame(http2.FrameWindowUpdate, 0, id, make([]byte, 4))
		},
		"window overflow":          func(p *peer, id uint32) error { return p.framer.WriteWindowUpdate(id, 1<<31-1) },
		"dependency on itself":     func(p *peer, id uint32) error { return p.framer.WritePriority(id, http2.PriorityParam{StreamDep: id}) },
		"data beyond its length":   func(p *peer, id uint32) error { return p.framer.WriteData(id, false, []byte("too long")) },
		"trailers that do not end": func(p *peer, id uint32) error { p.headers(id, false, "a", "b"); return nil },
		"invalid trailers":         func(p *peer, id uint32) error { p.headers(id, true, "a", "b\n"); return nil },
		"trailers with a pseudo":   func(p *peer, id uint32) error { p.headers(id, true, ":path", "/"); return nil },
		"trailer that is no such":  func(p *peer, id uint32) error { p.headers(id, true, "host", "other"); return nil },
		"data after the end":       afterEnd(func(p *peer, id uint32) error { return p.framer.WriteData(id, false, []byte("more")) }),
		"headers after the end":    afterEnd(func(p *peer, id uint32) error { p.headers(id, false, "a", "b"); return nil }),
		"end after the end":        afterEnd(func(p *peer, id uint32) error { return p.framer.WriteData(id, true, nil) }),
		"its own reset, and window": func(p *peer, id uint32) error {
			p.framer.WriteWindowUpdate(id, 1<<31-1)
			return p.framer.WriteRSTStream(id, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTarget(t)
			p := a.attacker()
			const fit = attackedStreams + attackedWaiting
			for i := range fit + 1 {
				if i == fit {
					a.answersOthers()
				}
				id := uint32(2*i + 1)
				p.request(id, false, "POST", "/hold", "content-length", "4")
				p.check(provoke(p, id))
			}
			want := fmt.Sprintf("GOAWAY %d ENHANCE_YOUR_CALM", 2*fit+1)
			for got := ""; got != want; {
				if got = p.next(); got == "" {
					t.Fatal("the connection has ended without GOAWAY")
				}
			}
			a.boundsHandlers()
			a.answersOthers()
		})
	}
}

func afterEnd(then func(*peer, uint32) error) func(*peer, uint32) error {
	return func(p *peer, id uint32) error {
		if err := p.framer.WriteData(id, true, []byte("body")); err != nil {
			return err
		}
		return then(p, id)
	}
}

// TestPriorityOfWrongLength sends PRIORITY of a length other than 5, for which MadeYouReset expects RST_STREAM. The
// connection ends instead.
func TestPriorityOfWrongLength(t *testing.T) {
	a := newTarget(t)
	p := a.attacker()
	p.request(1, true, "GET", "/hold")
	p.check(p.framer.WriteRawFrame(http2.FramePriority, 0, 1, make([]byte, 4)))
	p.expect("GOAWAY 1 FRAME_SIZE_ERROR")
	a.answersOthers()
}

// TestStreamsAboveTheLimit opens more streams than the server allows. They are refused, and each costs no handler.
func TestStreamsAboveTheLimit(t *testing.T) {
	a := newTarget(t)
	p := a.attacker()
	for i := range 5000 {
		p.request(uint32(2*i+1), true, "GET", "/hold")
		if i >= attackedStreams {
			p.expect(fmt.Sprintf("RST_STREAM %d REFUSED_STREAM", 2*i+1))
		}
	}
	a.boundsHandlers()
	a.answersOthers()
}

// TestDataBeyondWindows sends more of a body than the stream's window, and then than the connection's, to handlers that
// do not read. So many bytes of bodies the server holds at most.
func TestDataBeyondWindows(t *testing.T) {
	const window = 256 << 10
	a := newTarget(t)
	p := a.attacker()
	body := func(id uint32) {
		p.request(id, false, "POST", "/hold")
		for range 4 {
			p.check(p.framer.WriteData(id, false, make([]byte, window/4)))
		}
	}
	body(1)
	p.check(p.framer.WriteData(1, false, make([]byte, 1)))
	p.expect("RST_STREAM 1 FLOW_CONTROL_ERROR")
	for i := range uint32(attackedStreams - 1) {
		body(2*i + 3)
	}
	a.answersOthers()
	p.check(p.framer.WriteData(3, false, make([]byte, 1)))
	p.expect("GOAWAY 19 FLOW_CONTROL_ERROR")
	a.answersOthers()
}
