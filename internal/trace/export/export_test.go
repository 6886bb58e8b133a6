package export_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"fairlead.dev/internal/trace/export"
	"fairlead.dev/trace"
)

// receiver is a receiver of traces that responds by answer, with 200 if it is nil.
type receiver struct {
	t        *testing.T
	answer   func(n int) (code int, retryAfter string, err error)
	requests int
	spans    []*otlp.Span
	at       []time.Duration // of the requests
	began    time.Time
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if req.Method != "POST" || req.URL.String() != "http://traces.test/v1/traces" || req.Header.Get("Content-Type") != "application/json" || req.Header.Get("X-Tenant") != "t" {
		r.t.Errorf("%s %s, %v", req.Method, req.URL, req.Header)
	}
	r.requests++
	r.at = append(r.at, time.Since(r.began))
	res := &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}
	if r.answer != nil {
		code, after, err := r.answer(r.requests)
		if err != nil {
			return nil, err
		}
		res.StatusCode, res.Status = code, http.StatusText(code)
		res.Header.Set("Retry-After", after)
	}
	if res.StatusCode == 200 {
		var read collector.ExportTraceServiceRequest
		if err := protojson.Unmarshal(body, &read); err != nil {
			r.t.Errorf("%v in %s", err, body)
		}
		for _, rs := range read.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				r.spans = append(r.spans, ss.Spans...)
			}
		}
	}
	return res, nil
}

// names are those of the spans, in the order in which they came.
func (r *receiver) names() (names []string) {
	for _, s := range r.spans {
		names = append(names, s.Name)
	}
	return names
}

// event enters an event of a config map.
func event(l *trace.Log, rev int64, name string, causes ...int64) {
	w := &trace.Write{Verb: "update", User: "u", Parent: trace.Parent{Causes: causes}}
	w.At[trace.Received] = l.Now()
	l.Wrote(rev, w)
	l.Cached(rev, "configmaps", "default/"+name, trace.Added, 1, l.Now())
}

// run starts an export to r and returns how to end it.
func run(t *testing.T, l *trace.Log, r *receiver) (stop func()) {
	r.t, r.began = t, time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- export.Run(ctx, l, export.Options{
			Endpoint: "http://traces.test", Header: http.Header{"X-Tenant": {"t"}}, Transport: r, Log: slog.New(slog.DiscardHandler),
		})
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func title(rev int, name string) string {
	return fmt.Sprintf("%d ADDED configmaps default/%s", rev, name)
}

func TestEventsOfOneTreeAreOneTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r := trace.New(trace.Options{}), &receiver{}
		stop := run(t, l, r)
		event(l, 7, "cause")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := r.names(); !slices.Equal(got, []string{title(7, "cause")}) {
			t.Errorf("sent %q", got)
		}
		event(l, 8, "effect", 7)
		event(l, 9, "other")
		time.Sleep(5 * time.Second)
		stop()
		if got := r.names(); !slices.Equal(got, []string{title(7, "cause"), title(8, "effect"), title(9, "other")}) {
			t.Fatalf("sent %q", got)
		}
		trace := func(n int) string { return string(r.spans[n].TraceId) }
		if trace(1) != trace(0) || string(r.spans[1].ParentSpanId) != string(r.spans[0].SpanId) {
			t.Error("an event's effect in a later request is not below it")
		}
		if trace(2) == trace(0) {
			t.Error("an event without a cause is in another event's trace")
		}
		if r.requests != 2 {
			t.Errorf("%d requests, want 2", r.requests)
		}
	})
}

func TestReceiverAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trace.New(trace.Options{})
		r := &receiver{answer: func(n int) (int, string, error) {
			switch n {
			case 1:
				return 0, "", errors.New("connection refused")
			case 2:
				return 503, "7", nil
			case 3:
				return 429, "", nil
			}
			return 200, "", nil
		}}
		stop := run(t, l, r)
		event(l, 1, "a")
		time.Sleep(2 * time.Minute)
		stop()
		if got := r.names(); !slices.Equal(got, []string{title(1, "a")}) {
			t.Errorf("sent %q", got)
		}
		var pauses []time.Duration
		for n := 1; n < len(r.at); n++ {
			pauses = append(pauses, (r.at[n] - r.at[n-1]).Round(time.Second))
		}
		if want := []time.Duration{time.Second, 7 * time.Second, 4 * time.Second}; !slices.Equal(pauses, want) {
			t.Errorf("pauses %v, want %v", pauses, want)
		}
	})
}

func TestRefusedEventsAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trace.New(trace.Options{})
		r := &receiver{answer: func(n int) (int, string, error) {
			if n == 1 {
				return 400, "", nil
			}
			return 200, "", nil
		}}
		stop := run(t, l, r)
		event(l, 1, "refused")
		time.Sleep(5 * time.Second)
		event(l, 2, "taken")
		time.Sleep(5 * time.Second)
		stop()
		if got := r.names(); !slices.Equal(got, []string{title(2, "taken")}) {
			t.Errorf("sent %q", got)
		}
	})
}

func TestLastEventsAreSentAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r := trace.New(trace.Options{}), &receiver{}
		stop := run(t, l, r)
		synctest.Wait()
		event(l, 1, "last")
		stop()
		if got := r.names(); !slices.Equal(got, []string{title(1, "last")}) {
			t.Errorf("sent %q", got)
		}
	})
}

// TestManyEvents: while the receiver is away, more events arrive than a log holds; the rest
// is then sent in requests of a bounded size.
func TestManyEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trace.New(trace.Options{Events: 1024})
		r := &receiver{answer: func(n int) (int, string, error) {
			if n == 1 {
				return 503, "30", nil
			}
			return 200, "", nil
		}}
		stop := run(t, l, r)
		event(l, 1, "gone")
		time.Sleep(5 * time.Second)
		for rev := int64(2); rev <= 3000; rev++ {
			event(l, rev, "kept")
		}
		time.Sleep(time.Minute)
		stop()
		if r.requests != 3 || len(r.spans) != 1024 {
			t.Errorf("%d requests with %d spans, want 3 and 1024", r.requests, len(r.spans))
		}
	})
}

func TestEndpoints(t *testing.T) {
	for endpoint, ok := range map[string]bool{
		"http://localhost:4318": true, "https://h/otlp/v1/traces": true, "localhost:4318": false, "grpc://h:4317": false, "http://": false, "": false,
	} {
		if err := export.Check(endpoint); (err == nil) != ok {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	var o export.Options
	if err := export.Run(t.Context(), trace.New(trace.Options{}), o); err == nil {
		t.Error("no endpoint is taken for one")
	}
}
