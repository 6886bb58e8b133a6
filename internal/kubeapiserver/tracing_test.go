package kubeapiserver_test

import (
	"context"
	"encoding/hex"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// spanReceiver receives spans by OTLP.
type spanReceiver struct {
	collectorv1.UnimplementedTraceServiceServer
	address string

	mu    sync.Mutex
	spans []*tracev1.Span
}

func newSpanReceiver(t *testing.T) *spanReceiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &spanReceiver{address: l.Addr().String()}
	server := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, r)
	go server.Serve(l)
	t.Cleanup(server.Stop)
	return r
}

// Export implements collectorv1.TraceServiceServer.
func (r *spanReceiver) Export(_ context.Context, in *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range in.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// named returns the span of a request whose user agent is the name, or nil.
func (r *spanReceiver) named(agent string) *tracev1.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if attributeOf(s, "user_agent.original") == agent {
			return s
		}
	}
	return nil
}

func attributeOf(s *tracev1.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// TestTracing: a request of a trusted user continues the trace of its header, and that of another user is linked with it.
func TestTracing(t *testing.T) {
	receiver := newSpanReceiver(t)
	config := filepath.Join(t.TempDir(), "tracing.yaml")
	if err := os.WriteFile(config, []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: "+receiver.address+"\nsamplingRatePerMillion: 1000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const traceID, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	as := start(t, "--tracing-config-file="+config)
	url, client := host(as("")), httpClient(t, nil, "")
	for agent, token := range map[string]string{"trusted": "root-token", "other": "ada-token"} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/api/v1/namespaces/default/configmaps/none?pretty=true", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = bearer(token)
		req.Header.Set("Traceparent", "00-"+traceID+"-"+parent+"-01")
		req.Header.Set("User-Agent", agent)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Fatal(resp.Status)
		}
	}
	eventually(t, "both spans are received", func() bool {
		_ = list(t, as("root-token"))
		return receiver.named("trusted") != nil && receiver.named("other") != nil
	})
	trusted, other := receiver.named("trusted"), receiver.named("other")
	if hex.EncodeToString(trusted.TraceId) != traceID || hex.EncodeToString(trusted.ParentSpanId) != parent {
		t.Errorf("the span of a trusted user: %v", trusted)
	}
	if hex.EncodeToString(other.TraceId) == traceID || len(other.ParentSpanId) > 0 || len(other.Links) != 1 || hex.EncodeToString(other.Links[0].TraceId) != traceID {
		t.Errorf("the span of another user: %v", other)
	}
	if trusted.Name != "GET /api/v1/namespaces/{:namespace}/configmaps/{:name}" || attributeOf(trusted, "http.target") != "/api/v1/namespaces/default/configmaps/none?pretty=true" ||
		attributeOf(trusted, "audit-id") == "" || trusted.Kind != tracev1.Span_SPAN_KIND_SERVER || trusted.EndTimeUnixNano < trusted.StartTimeUnixNano {
		t.Errorf("%v", trusted)
	}
}

// TestTracingErrors: a server with a file that cannot be used does not start.
func TestTracingErrors(t *testing.T) {
	config := filepath.Join(t.TempDir(), "tracing.yaml")
	for text, want := range map[string]string{
		"kind: Pod": "failed to read tracing config",
		"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: 2000000": "samplingRatePerMillion",
		"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nrate: 1":                         "unknown field",
	} {
		replace(t, config, []byte(text))
		if err := startFails(t, "--tracing-config-file="+config); !strings.Contains(err, want) {
			t.Errorf("%q: %s, want %q", text, err, want)
		}
	}
}
