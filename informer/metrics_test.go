package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"fairlead.dev/informer"
)

// TestMetricsShowASlowHandler: one handler is stuck at its first object while 5,000 changes
// come; the other gets all of them, and the metrics show the difference.
func TestMetricsShowASlowHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events strings.Builder
		for rv := 2; rv < 5002; rv++ {
			fmt.Fprintf(&events, `{"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"b","resourceVersion":"%d"}}}`+"\n", rv)
		}
		watches := 0
		i := overWire(t, func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("sendInitialEvents") != "" {
				return &http.Response{StatusCode: 400, Body: http.NoBody, Request: r}, nil
			}
			if r.URL.Query().Get("watch") != "true" {
				return reply(strings.NewReader(`{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","namespace":"b","resourceVersion":"1"}}]}`))
			}
			if watches++; watches > 1 {
				return reply(silent{r.Context()})
			}
			return reply(strings.NewReader(events.String()))
		}, informer.Options[*corev1.Pod]{Name: "web", Log: 100})
		let := make(chan struct{})
		i.Handle(informer.Handler[*corev1.Pod]{Name: "slow", Add: func(*corev1.Pod, bool) { <-let }})
		i.Handle(informer.Handler[*corev1.Pod]{Name: "quick", Add: func(*corev1.Pod, bool) {}})
		r := prometheus.NewPedanticRegistry()
		r.MustRegister(i)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- i.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		// The slow one is off the log: it is behind by one object, not by 5,000 changes.
		compare(t, r, `
# HELP fairlead_informer_events_total How many events were read from watches
# TYPE fairlead_informer_events_total counter
fairlead_informer_events_total{name="web",resource="Pod"} 5000
# HELP fairlead_informer_handler_lag How many changes a handler has not been told yet; of handlers of one name, the largest
# TYPE fairlead_informer_handler_lag gauge
fairlead_informer_handler_lag{handler="quick",name="web",resource="Pod"} 0
fairlead_informer_handler_lag{handler="slow",name="web",resource="Pod"} 2
# HELP fairlead_informer_lists_total How many lists were put in place: one, and one for each time that the server could not go on from where the copy was
# TYPE fairlead_informer_lists_total counter
fairlead_informer_lists_total{name="web",resource="Pod"} 1
# HELP fairlead_informer_objects How many objects the local copy holds
# TYPE fairlead_informer_objects gauge
fairlead_informer_objects{name="web",resource="Pod"} 1
`, "fairlead_informer_events_total", "fairlead_informer_handler_lag", "fairlead_informer_lists_total", "fairlead_informer_objects")
		close(let)
		synctest.Wait()
		compare(t, r, `
# HELP fairlead_informer_handler_lag How many changes a handler has not been told yet; of handlers of one name, the largest
# TYPE fairlead_informer_handler_lag gauge
fairlead_informer_handler_lag{handler="quick",name="web",resource="Pod"} 0
fairlead_informer_handler_lag{handler="slow",name="web",resource="Pod"} 0
`, "fairlead_informer_handler_lag")
		cancel()
		<-done
	})
}

func compare(t *testing.T, r *prometheus.Registry, want string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}
