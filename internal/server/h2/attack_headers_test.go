//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// TestHeaderAttacks sends header blocks that are cheap to send and meant to be costly to receive. No handler may
// see them.
func TestHeaderAttacks(t *testing.T) {
	const get = "\x82\x87\x84" // GET https /
	for _, q := range []struct {
		name string
		send func(p *peer)
		want string
	}{
		// CONTINUATION flood, CVE-2024-27316 and CVE-2023-45288: the block never ends.
		{"continuations without end", func(p *peer) {
			p.fields(false, get)
			for range 20 {
				p.more(false, literal("a", strings.Repeat("b", 10_000)))
			}
		}, "GOAWAY 0 PROTOCOL_ERROR"},
		{"continuations of huffman code", func(p *peer) {
			p.fields(false, get)
			for range 20 {
				p.more(false, "\x40\x01a\x7f\x81\x4d"+strings.Repeat("\x00", 10_000)) // never ends
			}
		}, "GOAWAY 0 PROTOCOL_ERROR"},
		{"continuations after an invalid field", func(p *peer) {
			p.fields(false, get+literal("a\n", "b"))
			p.more(false, literal("a", "b"))
		}, "GOAWAY 0 PROTOCOL_ERROR"},
		// HPACK bomb, CVE-2016-6581: one byte stands for 4 KB.
		{"references to a large field", func(p *peer) {
			p.fields(true, get+"\x40"+literal("a", strings.Repeat("b", 4000))[1:]+strings.Repeat("\xbe", 10_000))
		}, "HEADERS 1 431"},
		{"many small fields", func(p *peer) { p.fields(true, get+strings.Repeat(literal("a", ""), 4000)) }, "HEADERS 1 431"},
		{"table larger than allowed", func(p *peer) { p.fields(true, "\x3f\xe1\xff\x03"+get) }, "GOAWAY 0 COMPRESSION_ERROR"},
		{"string larger than allowed", func(p *peer) { p.fields(true, get+"\x00\x01a\x7f\xff\xff\xff\xff\x07") }, "GOAWAY 0 COMPRESSION_ERROR"},
		{"number larger than allowed", func(p *peer) { p.fields(true, get+"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f") }, "GOAWAY 0 COMPRESSION_ERROR"},
		{"reference beyond the table", func(p *peer) { p.fields(true, get+"\xbe") }, "GOAWAY 0 COMPRESSION_ERROR"},
		// 0-length headers leak, CVE-2019-9516.
		{"fields without name and value", func(p *peer) { p.fields(true, get+strings.Repeat(literal("", ""), 300)) }, "RST_STREAM 1 PROTOCOL_ERROR"},
	} {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			a := newTarget(t, func(s *http.Server) { s.MaxHeaderBytes = 50_000 })
			p := a.attacker()
			q.send(p)
			p.expect(q.want)
			a.answersOthers()
			if n := a.started.Load(); n > 0 {
				t.Errorf("%d handlers started", n)
			}
			if !strings.HasPrefix(q.want, "GOAWAY") {
				p.answered(101)
			}
		})
	}
}

// TestEmptyContinuations sends many CONTINUATION frames without content, which is valid and cheap.
func TestEmptyContinuations(t *testing.T) {
	a := newTarget(t)
	p := a.attacker()
	p.fields(false, "\x82\x87\x84")
	for range 20_000 {
		p.more(false, "")
	}
	a.answersOthers()
	p.more(true, "")
	p.expect("HEADERS 1 200 END")
}

// fields sends the HEADERS of stream 1 with the encoded fields, and more a CONTINUATION. Both ignore that the server
// may have closed the connection.
func (p *peer) fields(end bool, fields string) {
	n := min(len(fields), 16<<10)
	p.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: []byte(fields[:n]), EndStream: true, EndHeaders: end && n == len(fields),
	})
	for fields = fields[n:]; len(fields) > 0; fields = fields[n:] {
		n = min(len(fields), 16<<10)
		p.more(end && n == len(fields), fields[:n])
	}
}

func (p *peer) more(end bool, fields string) { p.framer.WriteContinuation(1, end, []byte(fields)) }

// literal encodes a field that is not indexed.
func literal(name, value string) string {
	b := []byte{0}
	for _, s := range []string{name, value} {
		b = appendLength(b, len(s))
		b = append(b, s...)
	}
	return string(b)
}

func appendLength(b []byte, n int) []byte {
	if n < 127 {
		return append(b, byte(n))
	}
	for b, n = append(b, 127), n-127; n >= 128; n >>= 7 {
		b = append(b, byte(n)|128)
	}
	return append(b, byte(n))
}
