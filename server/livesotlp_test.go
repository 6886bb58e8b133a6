package server_test

import (
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"fairlead.dev/server"
)

// TestLivesAsOTLP checks that a tree of causes is a request for an OpenTelemetry receiver.
func TestLivesAsOTLP(t *testing.T) {
	b := startBreakable(t)
	rev := b.must("POST "+maps, `{"metadata":{"name":"traced"}}`).text("metadata.resourceVersion")
	b.must("GET "+maps+"/traced", "") // waits until the cache has the write, by which its life has a subject
	for _, which := range []string{"tree=" + rev, "from=" + rev + "&to=" + rev} {
		var got collector.ExportTraceServiceRequest
		if err := protojson.Unmarshal([]byte(b.must("GET "+server.LivesPath+"?output=otlp&"+which, "").body), &got); err != nil {
			t.Fatal(err)
		}
		if spans := got.ResourceSpans[0].ScopeSpans[0].Spans; len(spans) == 0 || !strings.HasPrefix(spans[0].Name, rev+" ") {
			t.Errorf("%s: spans %v", which, spans)
		}
	}
	for _, which := range []string{"output=yaml", "output=otlp&follow=true"} {
		if r := b.do("GET "+server.LivesPath+"?"+which, ""); r.code != 400 || !strings.Contains(r.body, "want otlp") {
			t.Errorf("%s: %d %s", which, r.code, r.body)
		}
	}
}
