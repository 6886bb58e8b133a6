package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// TestOTLP: an OTLP receiver gets the lives of events, and the last ones when the server
// ends.
func TestOTLP(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var names []string
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err := protojson.Unmarshal(body, &sent); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, s := range sent.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
			names = append(names, s.GetName())
		}
	}))
	defer receiver.Close()
	// It has two seconds for the last ones, in which a loaded machine may stand still.
	for tries := 1; ; tries++ {
		p := up(t, t.TempDir(), "--in-memory", "--otlp-endpoint", receiver.URL)
		p.kubectl("create", "configmap", "told")
		p.stop()
		mu.Lock()
		all := "\n" + strings.Join(names, "\n") + "\n"
		names = nil
		mu.Unlock()
		if strings.Contains(all, " ADDED configmaps default/told\n") && strings.Contains(all, "\nwatch nodes\n") {
			break
		}
		if tries == 5 {
			t.Fatalf("the spans sent are%s", all)
		}
	}
	fairlead(t, "up", "--in-memory", "--otlp-endpoint=localhost:4318").fails(t, 2, "--otlp-endpoint", "want a URL")
	fairlead(t, "up", "--in-memory", "--otlp-endpoint=http://h", "--trace-events=0").fails(t, 2, "--otlp-endpoint needs --trace-events above 0")
}
