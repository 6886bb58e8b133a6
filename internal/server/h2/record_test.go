package h2_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/internal/server/h2"
)

// recorder keeps all writes to a connection, each of which is a TLS record or several.
type recorder struct {
	net.Conn
	mu     sync.Mutex
	writes [][]byte
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	r.writes = append(r.writes, bytes.Clone(p))
	r.mu.Unlock()
	return r.Conn.Write(p)
}

// TestEndOfLongResponse: the end of a response of more than a record stands in a record after the data, of handlers and of
// sources; shorter ones end with their data.
func TestEndOfLongResponse(t *testing.T) {
	const end = "\x00\x00\x00\x00\x01\x00\x00\x00\x01" // an empty DATA frame of stream 1 with END_STREAM
	long := strings.Repeat("x", 40_000)
	for name, c := range map[string]struct {
		handler http.Handler
		want    []string
		alone   bool
	}{
		"short":       {writing("short"), []string{"DATA 1 short END"}, false},
		"long":        {writing(long), []string{"DATA 1 (16384)", "DATA 1 (16384)", "DATA 1 (7232)", "DATA 1 END"}, true},
		"long source": {handed(long), []string{"DATA 1 (16384)", "DATA 1 (16384)", "DATA 1 (7232)", "DATA 1 END"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			r := &recorder{Conn: theirs}
			p := connectBy(t, c.handler, h2.Install(server(t, options{}), h2.Options{}), ours, r)
			p.begin(options{})
			p.request(1, true, "GET", "/")
			p.expect(append([]string{"HEADERS 1 200"}, c.want...)...)
			r.mu.Lock()
			defer r.mu.Unlock()
			alone := false
			for _, w := range r.writes {
				alone = alone || bytes.HasPrefix(w, []byte(end))
			}
			if alone != c.alone {
				t.Errorf("the end has a record of its own: %v, want %v", alone, c.alone)
			}
		})
	}
}

func writing(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) })
}

// handed answers by a source that has all of the text at once.
func handed(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := newScript()
		s.text.WriteString(text)
		s.ended = true
		if _, ok := h2.HandOver(w, s); !ok {
			panic("not ours")
		}
	})
}
