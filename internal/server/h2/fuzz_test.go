//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

package h2_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"fairlead.dev/internal/server/h2"
)

// FuzzFrames sends frames made of arbitrary bytes. The connection must end when the client leaves, and there must
// be no panic.
func FuzzFrames(f *testing.F) {
	get := "\x82\x87\x84\x41\x01a"
	f.Add([]byte("\x01\x05\x01" + get))
	f.Add([]byte("\x01\x04\x01" + get + "\x00\x00\x01hello\x00\x01\x01you"))
	f.Add([]byte("\x01\x05\x01" + get + "\x03\x00\x01\x00\x00\x00\x08\x08\x00\x00\x00\x00\xff\xff"))
	f.Add([]byte("\x04\x00\x00\x00\x04\x00\x00\x00\x01\x06\x00\x0012345678"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		s := h2.Install(&http.Server{ErrorLog: quiet, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 4}}, h2.Options{WriteTimeout: time.Second})
		h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodGet {
				src := newScript()
				ring, _ := h2.HandOver(w, src)
				src.ring = ring
				go src.say("answer", len(data)%2 == 0)
				return
			}
			io.Copy(w, req.Body)
		})
		served := make(chan struct{})
		go func() {
			defer close(served)
			s.Serve(context.Background(), theirs, nil, h)
		}()
		go io.Copy(io.Discard, ours)
		io.WriteString(ours, http2.ClientPreface)
		framer := http2.NewFramer(ours, nil)
		framer.WriteSettings()
		// A frame is its type, flags, stream, length and that much payload.
		for len(data) > 3 {
			n := min(int(data[0]>>4)+5, len(data)-3)
			head := binary.BigEndian.AppendUint32([]byte{0, 0, byte(n), data[0] & 15, data[1]}, uint32(data[2]))
			if _, err := ours.Write(append(head, data[3:3+n]...)); err != nil {
				break
			}
			data = data[3+n:]
		}
		ours.Close()
		<-served
	})
}
