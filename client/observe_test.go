package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"fairlead.dev/client"
)

func TestObserve(t *testing.T) {
	var seen []client.Exchange
	m := client.NewMetrics()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	busy := true
	c, _ := scripted(t, client.Options{Observe: func(ctx context.Context, x client.Exchange) {
		seen = append(seen, x)
		m.Observe(ctx, x)
	}}, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && busy:
			busy = false
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(429)
		case strings.HasSuffix(r.URL.Path, "/gone"):
			w.WriteHeader(404)
		case r.URL.Query().Get("watch") != "":
		default:
			answer(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}})(w, r)
		}
	})
	pods := client.For[*corev1.Pod](c).Namespace("default")
	if _, err := pods.Create(ctx, &corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Get(ctx, "gone"); err == nil {
		t.Fatal("no error")
	}
	w, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	type told struct {
		method        string
		attempt, code int
		answered      bool
	}
	var got []told
	for _, x := range seen {
		if strings.HasPrefix(x.Path, "/api/v1/namespaces/") { // discovery is not counted here
			got = append(got, told{x.Method, x.Attempt, x.Code, x.Received > 0})
		}
	}
	want := []told{{"POST", 0, 429, false}, {"POST", 1, 200, true}, {"GET", 0, 404, false}, {"GET", 0, 200, false}}
	if len(got) != len(want) {
		t.Fatalf("was told %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("exchange %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP rest_client_request_retries_total How many of them were sent again
# TYPE rest_client_request_retries_total counter
rest_client_request_retries_total{code="200",host="localhost",verb="POST"} 1
`), "rest_client_request_retries_total"); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(registry, "rest_client_requests_total", "rest_client_request_duration_seconds"); n != 4+2 {
		t.Errorf("%d series", n)
	}
}

func TestGuard(t *testing.T) {
	c, s := scripted(t, client.Options{}, answer(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}))
	pods := client.For[*corev1.Pod](c).Namespace("default")
	refusal := errors.New("not any more")
	var outer, inner error
	guarded := client.WithWriteGuard(client.WithWriteGuard(ctx, func() error { return outer }), func() error { return inner })
	if _, err := pods.Create(guarded, &corev1.Pod{}); err != nil {
		t.Error(err)
	}
	for _, which := range []*error{&outer, &inner} {
		*which = refusal
		if _, err := pods.Create(guarded, &corev1.Pod{}); !errors.Is(err, refusal) {
			t.Errorf("a guarded create: %v", err)
		}
		*which = nil
	}
	inner = refusal
	if _, err := pods.Get(guarded, "web"); err != nil {
		t.Errorf("a guarded read: %v", err)
	}
	s.asked("POST /api/v1/namespaces/default/pods", "GET /api/v1/namespaces/default/pods/web")
}
