package server_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// TestWatchLife checks that a watch without timeoutSeconds ends after 30 to 60 minutes, at a time
// of its own, with a bookmark each minute and one at its end; and that timeoutSeconds, whatever
// its value, is its length.
func TestWatchLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := local.Open("", local.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		s, err := server.New(server.Config{Store: store, Resources: builtin.Resources()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		all.Go(func() { s.Run(ctx) })
		rt := server.Transport(s, &auth.User{Name: "anyone"})
		// live has the length of a watch and the times of its bookmarks.
		live := func(query string) (took time.Duration, marks []time.Duration) {
			began := time.Now()
			req, err := http.NewRequestWithContext(ctx, "GET", "http://memory"+maps+"?watch=1&resourceVersion=1"+query, nil)
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			for lines := bufio.NewReader(resp.Body); ; {
				line, err := lines.ReadString('\n')
				if err != nil {
					return time.Since(began), marks
				}
				if !strings.HasPrefix(line, `{"type":"BOOKMARK"`) {
					t.Error(line)
				}
				marks = append(marks, time.Since(began))
			}
		}
		var mu sync.Mutex
		least, most := time.Hour, time.Duration(0)
		var watches sync.WaitGroup
		for range 40 {
			watches.Go(func() {
				took, marks := live("&allowWatchBookmarks=true")
				mu.Lock()
				defer mu.Unlock()
				least, most = min(least, took), max(most, took)
				for i, at := range marks[:len(marks)-1] {
					if at != time.Duration(i+1)*time.Minute {
						t.Errorf("bookmark %d after %v", i, at)
					}
				}
				if last := marks[len(marks)-1]; last != took || len(marks) != int(took/time.Minute)+1 {
					t.Errorf("%d bookmarks in %v, the last after %v", len(marks), took, last)
				}
			})
		}
		watches.Go(func() {
			if took, marks := live("&timeoutSeconds=7200"); took != 2*time.Hour || len(marks) != 0 {
				t.Errorf("asked for two hours, with no bookmarks: %v %v", took, marks)
			}
		})
		watches.Go(func() {
			if took, marks := live("&timeoutSeconds=90&allowWatchBookmarks=true"); took != 90*time.Second || len(marks) != 2 || marks[1] != took {
				t.Errorf("asked for 90 seconds: %v %v", took, marks)
			}
		})
		watches.Wait()
		if least < 30*time.Minute || most > time.Hour || most-least < 10*time.Minute {
			t.Errorf("the shortest takes %v and the longest %v", least, most)
		}
	})
}

// TestWatchGoesOnAfterRestart checks that a client resumes its watch at a restarted server without
// a gap, since the history is on disk, and that a client at a compacted revision gets the error.
func TestWatchGoesOnAfterRestart(t *testing.T) {
	dir := t.TempDir()
	store, err := local.Open(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	on := func(cfg *server.Config) { cfg.Store = store }
	c := start(t, on)
	c.fill(2) // revisions 2 and 3
	w := c.watch(t, c.client.Transport, maps+"?watch=1&resourceVersion=1")
	w.expect("ADDED m000 2", "ADDED m001 3")
	c.must("PATCH "+maps+"/m000 application/merge-patch+json", `{"data":{"k":"w"}}`) // 4, which the client has not read
	c.must("DELETE "+maps+"/m001", "")                                               // 5
	c.http.CloseClientConnections()
	c.stop()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	if store, err = local.Open(dir, local.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	c = start(t, on)
	w = c.watch(t, c.client.Transport, maps+"?watch=1&resourceVersion=3")
	one := c.watch(t, c.client.Transport, maps+"?watch=1&resourceVersion=2&labelSelector=odd%3D1")
	c.must("POST "+maps, mapA) // 6
	w.expect("MODIFIED m000 4", "DELETED m001 5", "ADDED a 6")
	one.expect("ADDED m001 3", "DELETED m001 5")

	if err := store.Compact(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	c = start(t, on)
	c.watch(t, c.client.Transport, maps+"?watch=1&resourceVersion=3").expect("ERROR 410 too old resource version: 3 (5)", "end")
	c.watch(t, c.client.Transport, maps+"?watch=1&resourceVersion=5").expect("ADDED a 6")
}
