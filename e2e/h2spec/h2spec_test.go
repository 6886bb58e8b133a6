// Package h2spec checks the server's HTTP/2 by the conformance tests of github.com/summerwind/h2spec.
package h2spec

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/generic"
	"github.com/summerwind/h2spec/hpack"
	"github.com/summerwind/h2spec/http2"
	"github.com/summerwind/h2spec/spec"

	"fairlead.dev/internal/purego"
	"fairlead.dev/internal/server/h2"
)

// accepted has the cases that fail, and why that is right. They expect RST_STREAM without a response.
var accepted = map[string]string{
	"http2/8.1.2.2/1": "a request with Connection is answered with 400, which RFC 9113, 8.1.1 allows and net/http does",
	"http2/8.1.2.2/2": "a request with TE: gzip is answered with 400, which RFC 9113, 8.1.1 allows and net/http does",
}

// TestConformance runs every case, also the strict ones.
func TestConformance(t *testing.T) {
	if purego.Enabled {
		t.Skip("net/http serves HTTP/2, which is not this project's")
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		io.WriteString(w, strings.Repeat("conformance ", 100))
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	h2.Install(s.Config, h2.Options{})
	s.StartTLS()
	defer s.Close()
	addr := s.Listener.Addr().(*net.TCPAddr)
	c := config.Config{
		Host: addr.IP.String(), Port: addr.Port, Path: "/", Timeout: time.Minute,
		MaxHeaderLen: 16_000, // five of these exceed the server's SETTINGS_MAX_FRAME_SIZE, as a case supposes
		Strict:       true, TLS: true, Insecure: true,
	}
	silence(t)
	ran := 0
	for _, group := range []*spec.TestGroup{generic.Spec(), http2.Spec(), hpack.Spec()} {
		ran += conform(t, group, c)
	}
	if ran != 146 {
		t.Errorf("%d cases ran, want the 146 of version 2.2.1", ran)
	}
}

// conform runs the cases of a group and of those below it, and returns how many ran.
func conform(t *testing.T, group *spec.TestGroup, c config.Config) (ran int) {
	for i, tc := range append(group.Tests, group.StrictTests...) {
		id := fmt.Sprintf("%s/%d", group.ID(), i+1)
		reason, may := accepted[id]
		own := c
		if may {
			own.Timeout = time.Second // it would wait for RST_STREAM
		}
		if err := tc.Test(&own, i+1); err != nil {
			t.Fatalf("%s %s: %v", id, tc.Desc, err)
		}
		ran++
		switch r := tc.Result; {
		case r.Skipped:
			t.Errorf("%s %s: skipped", id, tc.Desc)
		case r.Failed != may:
			t.Errorf("%s %s: failed: %v (%v), want %v (%s)", id, tc.Desc, r.Failed, r.Error, may, reason)
		}
	}
	for _, g := range group.Groups {
		ran += conform(t, g, c)
	}
	return ran
}

// silence drops what h2spec prints, until the test's end.
func silence(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := os.Stdout
	os.Stdout = null
	t.Cleanup(func() {
		os.Stdout = out
		null.Close()
	})
}
