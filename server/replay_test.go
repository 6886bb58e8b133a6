package server_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
	"fairlead.dev/trace"
)

// TestReplayIsNoDelay checks that the delay of a watch opened a minute after an event, which it
// gets from the history, counts from when it was opened.
func TestReplayIsNoDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := local.Open("", local.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		log, reg := trace.New(trace.Options{}), prometheus.NewRegistry()
		s, err := server.New(server.Config{Store: store, Resources: builtin.Resources(), Trace: log, Metrics: reg})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		defer run.Wait()
		defer cancel()
		run.Go(func() { s.Run(ctx) })
		rt := server.Transport(s, &auth.User{Name: "anyone"})
		send := func(method, path, body string) *http.Response {
			req, err := http.NewRequestWithContext(ctx, method, "http://memory"+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
		read := func() { // the first event of a new watch
			w := send("GET", maps+"?watch=1&resourceVersion=1", "")
			defer w.Body.Close()
			if _, err := bufio.NewReader(w.Body).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.Copy(io.Discard, send("POST", maps, mapA).Body); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // in the bubble
		read()
		synctest.Wait()

		lives := log.Lives(trace.Filter{Resource: "configmaps"})
		if len(lives) != 1 || len(lives[0].Deliveries) != 1 {
			t.Fatalf("lives %+v", lives)
		}
		if d := lives[0].Deliveries[0]; d.Replayed < 59*time.Second || d.After(d.Flushed) > time.Second {
			t.Errorf("replayed after %v, %v behind its watch", d.Replayed, d.After(d.Flushed))
		}
		if took := lives[0].Duration(); took > time.Second {
			t.Errorf("the event took %v", took)
		}
		slow := send("GET", server.LivesPath+"?slow=1s", "")
		if text, _ := io.ReadAll(slow.Body); len(text) > 0 {
			t.Errorf("told as slow: %s", text)
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, f := range families {
			if !slices.Contains([]string{"apiserver_watch_events_dispatch_duration_seconds", "fairlead_event_hop_duration_seconds"}, f.GetName()) {
				continue
			}
			for _, m := range f.GetMetric() {
				seen++
				if sum := m.GetHistogram().GetSampleSum(); sum > 1 {
					t.Errorf("%s%v: %v s", f.GetName(), m.GetLabel(), sum)
				}
			}
		}
		if seen == 0 {
			t.Error("no histogram")
		}
	})
}
