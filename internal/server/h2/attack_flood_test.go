//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"fmt"
	"testing"

	"golang.org/x/net/http2"
)

// TestUnreadFloods sends frames that the server must answer, and reads no answer (CVE-2019-9512, 9514, 9515 and
// 9517). The server may hold 10,000 answers; then it ends the connection, long before the timeout of a blocked write.
func TestUnreadFloods(t *testing.T) {
	for name, flood := range map[string]func(p *peer, i int) error{
		"pings":    func(p *peer, _ int) error { return p.framer.WritePing(false, [8]byte{}) },
		"settings": func(p *peer, _ int) error { return p.framer.WriteSettings() },
		"malformed requests": func(p *peer, i int) error {
			return p.get(i, ":method", "GET")
		},
		"refused requests": func(p *peer, i int) error {
			return p.get(i, ":method", "GET", ":scheme", "https", ":path", "/hold")
		},
		"data on closed streams": func(p *peer, i int) error {
			if i == 0 {
				return p.get(i, ":method", "GET")
			}
			return p.framer.WriteData(1, false, nil)
		},
		"requests without an answer's body": func(p *peer, i int) error {
			return p.get(i, ":method", "HEAD", ":scheme", "https", ":path", "/")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTarget(t, smallBuffers)
			p := a.deafAttacker()
			n := 0
			for ; flood(p, n) == nil; n++ {
				if n == 5000 {
					a.answersOthers()
				}
			}
			a.answersOthers()
			if n < 5000 {
				t.Errorf("the connection ended after %d frames", n)
			}
			// Answers in the kernel's buffers and 64 KB in the server's.
			if n := a.started.Load(); n > 20_000 {
				t.Errorf("%d handlers started", n)
			}
			a.boundsHandlers()
		})
	}
}

// get opens stream 2i+1.
func (p *peer) get(i int, fields ...string) error {
	return p.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: uint32(2*i + 1), BlockFragment: p.encode(fields...), EndStream: true, EndHeaders: true,
	})
}

// TestReadFloods sends the same frames and reads the answers. The server answers each.
func TestReadFloods(t *testing.T) {
	const n = 20_000
	a := newTarget(t)
	p := a.attacker()
	p.check(p.framer.WriteSettingsAck())
	for i := range n {
		p.check(p.framer.WritePing(false, [8]byte(fmt.Appendf(nil, "%08d", i))))
		p.check(p.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: uint32(i)}))
		p.expect(fmt.Sprintf("PING true %08d", i), "SETTINGS ACK")
	}
	a.answersOthers()
	p.answered(1)
}

// TestEmptyFrames sends many frames without content (CVE-2019-9513 and CVE-2019-9518). They are valid, cost the
// client as much as the server, and take no memory.
func TestEmptyFrames(t *testing.T) {
	for name, send := range map[string]func(p *peer, i int) error{
		"data":    func(p *peer, _ int) error { return p.framer.WriteData(1, false, nil) },
		"padding": func(p *peer, _ int) error { return p.framer.WriteDataPadded(1, false, nil, make([]byte, 255)) },
		"priorities": func(p *peer, i int) error {
			return p.framer.WritePriority(uint32(2*i+3), http2.PriorityParam{StreamDep: 1})
		},
		"unknown frames": func(p *peer, _ int) error { return p.framer.WriteRawFrame(0xbb, 0, 0, nil) },
		"pings answered": func(p *peer, _ int) error { return p.framer.WritePing(true, [8]byte{}) },
		"window updates": func(p *peer, _ int) error { return p.framer.WriteWindowUpdate(1, 1) },
		"resets of one":  func(p *peer, _ int) error { return p.framer.WriteRSTStream(1, http2.ErrCodeCancel) },
		"goaways":        func(p *peer, _ int) error { return p.framer.WriteGoAway(0, http2.ErrCodeNo, nil) },
		"initial windows": func(p *peer, i int) error {
			return p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(i)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTarget(t)
			p := a.attacker()
			p.request(1, false, "POST", "/hold")
			for i := range 10_000 {
				p.check(send(p, i))
			}
			a.answersOthers()
			a.boundsHandlers()
			if name != "goaways" { // after which a client opens no stream
				p.answered(3)
			}
		})
	}
}
