package report_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/client/report"
	"fairlead.dev/trace"
)

// TestOtherServers: a server without reports is asked once.
func TestOtherServers(t *testing.T) {
	for _, code := range []int{http.StatusNotFound, http.StatusForbidden, http.StatusMethodNotAllowed} {
		var asked atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			w.WriteHeader(code)
		}))
		c := connect(t, s.URL)
		report.Run(t.Context(), c, "test") // ends by itself
		s.Close()
		if asked.Load() != 1 {
			t.Errorf("%d: asked %d times", code, asked.Load())
		}
		c.Trace().Arrived(&trace.Informer{}, 1, 0, 1, 2, 3)
		if r, _, _ := c.Trace().Report(trace.ReportCursor{}, 1); !r.Empty() {
			t.Errorf("%d: it is still kept what nobody wants", code)
		}
	}
}

// TestReports: the first report only has the clock; then all entries are sent once, the
// last ones before the end.
func TestReports(t *testing.T) {
	server := trace.New(trace.Options{})
	heard := make(chan trace.Report, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got trace.Report
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.Method != http.MethodPost || r.URL.Path != trace.Path {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		if err := server.ReceiveReport(&got); err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusConflict)
			return
		}
		heard <- got
		w.WriteHeader(http.StatusNoContent)
	}))
	defer s.Close()
	c := connect(t, s.URL)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	l := c.Trace()
	work := func(key string) {
		l.Do(ctx, &trace.Reconcile{Controller: "c", Key: key}, func(context.Context) error { return nil })
	}
	work("first")
	go func() {
		report.Run(ctx, c, "test")
		close(done)
	}()
	if r := <-heard; !r.Empty() || !strings.HasPrefix(r.Process, "test@") {
		t.Errorf("the first report: %+v", r)
	}
	if r := <-heard; len(r.Reconciles) != 1 || r.Reconciles[0].Key != "first" || r.RoundTrip <= 0 {
		t.Errorf("the second report: %+v", r)
	}
	work("last")
	stop() // perhaps while the second is not answered yet, which then comes again
	<-done
	var keys []string
	works, _ := server.Reconciles(0)
	for _, w := range works {
		keys = append(keys, w.Key)
	}
	if !slices.Equal(keys, []string{"first", "last"}) {
		t.Errorf("the server knows of %v", keys)
	}
}

func connect(t *testing.T, url string) *client.Client {
	t.Helper()
	c, err := client.New(&rest.Config{Host: url}, client.Options{Trace: report.Log()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
