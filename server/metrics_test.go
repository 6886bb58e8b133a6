package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
	"fairlead.dev/trace"
)

// gathered is the metrics of a server after a write that was watched, reconciled and refused once.
func gathered(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	all := map[string]*dto.MetricFamily{}
	synctest.Test(t, func(t *testing.T) {
		log, reg := trace.New(trace.Options{}), prometheus.NewRegistry()
		store, err := local.Open("", local.Options{InMemory: true, Trace: log})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		slow := faults.New() // without it the clock of the bubble stands still
		s, err := server.New(server.Config{Store: store, Resources: builtin.Resources(), Trace: log, Metrics: reg, Faults: slow})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := slow.Add(t.Context(), faults.Fault{Action: faults.Slow, Delay: faults.Duration(time.Millisecond)}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		defer run.Wait()
		defer cancel()
		run.Go(func() { s.Run(ctx) })
		rt := server.Transport(s, &auth.User{Name: "anyone"})
		send := func(ctx context.Context, method, path, body string) *http.Response {
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
		w := send(ctx, "GET", maps+"?watch=1&resourceVersion=1", "")
		defer w.Body.Close()
		err = log.Do(ctx, &trace.Reconcile{Controller: "mine", Key: "k", Handed: log.Now()}, func(ctx context.Context) error {
			_, err := io.Copy(io.Discard, send(ctx, "POST", maps, mapA).Body)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(w.Body).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // in the bubble: until the event has settled
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			all[f.GetName()] = f
		}
	})
	return all
}

// TestHopMetrics checks that each hop is counted once, in classic and in native buckets.
func TestHopMetrics(t *testing.T) {
	all := gathered(t)
	count := func(name, label, value string) (n uint64) {
		for _, m := range all[name].GetMetric() {
			if slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == label && l.GetValue() == value }) {
				h := m.GetHistogram()
				n += h.GetSampleCount()
				if native := name != "apiserver_request_duration_seconds"; len(h.GetBucket()) == 0 || native && h.Schema == nil {
					t.Errorf("%s is not classic, or not native as well", name)
				}
			}
		}
		return n
	}
	for _, hop := range []string{"authorized", "admitted", "queued", "published", "cached", "framed", "flushed"} {
		if n := count("fairlead_event_hop_duration_seconds", "hop", hop); n != 1 {
			t.Errorf("hop %s was counted %d times", hop, n)
		}
	}
	for _, stage := range []string{"storage_to_cache", "cache_to_watcher", "total"} {
		if n := count("apiserver_watch_events_dispatch_duration_seconds", "stage", stage); n != 1 {
			t.Errorf("stage %s was counted %d times", stage, n)
		}
	}
	for name, label := range map[string][2]string{
		"apiserver_request_duration_seconds":                  {"verb", "POST"},
		"apiserver_admission_step_admission_duration_seconds": {"operation", "CREATE"},
		"workqueue_queue_duration_seconds":                    {"name", "mine"},
		"workqueue_work_duration_seconds":                     {"name", "mine"},
	} {
		if n := count(name, label[0], label[1]); n == 0 {
			t.Errorf("%s has nothing of %v", name, label)
		}
	}
	for _, m := range all["apiserver_resource_objects"].GetMetric() {
		if m.GetLabel()[1].GetValue() == "configmaps" && m.GetGauge().GetValue() != 1 {
			t.Errorf("objects: %v", m)
		}
	}
}

// TestDashboard checks that the queries of docs/grafana.json name existing metrics.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	all, names := gathered(t), regexp.MustCompile(`\b(?:apiserver|fairlead|workqueue)_[a-z_]+`)
	vectors := map[string]bool{ // an idle server has no samples of these
		"apiserver_terminated_watchers_total": true,
	}
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("%s asks nothing", p.Title)
		}
		for _, q := range p.Targets {
			found := names.FindAllString(q.Expr, -1)
			if len(found) == 0 {
				t.Errorf("%s: no metric in %s", p.Title, q.Expr)
			}
			for _, name := range found {
				name = strings.TrimSuffix(name, "_bucket")
				if all[name] == nil && !vectors[name] {
					t.Errorf("%s: there is no %s", p.Title, name)
				}
			}
		}
	}
}
