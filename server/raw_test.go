package server_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// raw is a connection of HTTP/2 whose frames the test writes.
type raw struct {
	*http2.Framer
	t    *testing.T
	conn *tls.Conn
	head bytes.Buffer
	enc  *hpack.Encoder
}

func (c *cluster) raw(t *testing.T, settings ...http2.Setting) *raw {
	t.Helper()
	conn, err := tls.Dial("tcp", c.http.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetReadDeadline(time.Now().Add(patience))
	r := &raw{Framer: http2.NewFramer(conn, conn), t: t, conn: conn}
	r.enc = hpack.NewEncoder(&r.head)
	_, err = io.WriteString(conn, http2.ClientPreface)
	r.must(errors.Join(err, r.WriteSettings(settings...)))
	return r
}

func (r *raw) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// open opens a stream; pairs are more header fields.
func (r *raw) open(id uint32, method, path string, end bool, pairs ...string) {
	r.t.Helper()
	r.head.Reset()
	for i, all := 0, append([]string{":method", method, ":scheme", "https", ":authority", "x", ":path", path}, pairs...); i < len(all); i += 2 {
		r.enc.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]})
	}
	r.must(r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: r.head.Bytes(), EndHeaders: true, EndStream: end}))
}
