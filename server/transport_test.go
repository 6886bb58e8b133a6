package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

func TestInMemoryTransport(t *testing.T) {
	c := start(t)
	rt := server.Transport(c.server, &auth.User{Name: "me"})
	c.fill(3)
	t.Run("a closed body ends the watch", func(t *testing.T) {
		w := c.watch(t, rt, maps+"?watch=1")
		w.expect("ADDED m000 2")
		w.resp.Body.Close()
		c.awaitWatches(0)
	})
	t.Run("a cancelled context ends the watch", func(t *testing.T) {
		w := c.watch(t, rt, maps+"?watch=1&resourceVersion=4")
		w.cancel()
		if _, err := io.ReadAll(w.resp.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("reading ended with %v", err)
		}
		c.awaitWatches(0)
	})
	t.Run("a list longer than the buffer", func(t *testing.T) {
		for i := range 8 {
			c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"big%d"},"data":{"k":"%s"}}`, i, strings.Repeat("x", 60<<10)))
		}
		req, _ := http.NewRequest("GET", "http://memory"+maps, nil)
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		if want := c.must("GET "+maps, "").body; err != nil || string(data) != want {
			t.Errorf("%d bytes, %v; want %d", len(data), err, len(want))
		}
	})
	t.Run("an error is an answer", func(t *testing.T) {
		req, _ := http.NewRequest("GET", "http://memory"+maps+"/none", nil)
		resp, err := rt.RoundTrip(req)
		if err != nil || resp.StatusCode != 404 || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v %v", resp, err)
		}
	})
	t.Run("a cancelled request is not sent", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		req, _ := http.NewRequestWithContext(ctx, "DELETE", "http://memory"+maps+"/m000", nil)
		if _, err := rt.RoundTrip(req); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		c.must("GET "+maps+"/m000", "")
	})
}
