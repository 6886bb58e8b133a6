// Package spans records requests as OpenTelemetry spans, as kube-apiserver does with --tracing-config-file.
//
// # Contract
//
//   - A request of system:masters or system:monitoring continues the trace of its header traceparent (W3C Trace Context). That
//     of another user begins a trace, with a link to the one in its header.
//   - A span lasts from the arrival of the request to the end of its response, which for a watch is the end of the watch.
//   - Names and attributes are those of kube-apiserver's spans.
package spans

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/request"
)

// Recorder records requests. It may be used from any goroutine.
type Recorder struct{ tracer trace.Tracer }

// New returns a Recorder of the provider's, which also decides what is sampled.
func New(p trace.TracerProvider) *Recorder {
	return &Recorder{p.Tracer("fairlead.dev/internal/server/spans")}
}

var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// Request is a request that is recorded.
type Request struct {
	HTTP *http.Request
	Info *request.Info
	User *auth.User
	// Began is when the request arrived, and AuditID its ID in the audit log.
	Began   time.Time
	AuditID string
}

// Start begins the span of a request. The context that it returns has the span.
func (r *Recorder) Start(ctx context.Context, of Request) (context.Context, trace.Span) {
	from := propagator.Extract(ctx, propagation.HeaderCarrier(of.HTTP.Header))
	begin := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(of.Began),
		trace.WithAttributes(
			attribute.String("http.request.method", of.HTTP.Method),
			attribute.String("http.target", of.HTTP.URL.RequestURI()),
			attribute.String("url.path", of.HTTP.URL.Path),
			attribute.String("server.address", of.HTTP.Host),
			attribute.String("user_agent.original", of.HTTP.UserAgent()),
			attribute.String("audit-id", of.AuditID),
		),
	}
	if !trusted(of.User) {
		begin = append(begin, trace.WithNewRoot())
		if sent := trace.SpanContextFromContext(from); sent.IsValid() {
			begin = append(begin, trace.WithLinks(trace.Link{SpanContext: sent}))
		}
	}
	return r.tracer.Start(from, name(of), begin...)
}

// trusted reports whether the user may add to the traces of others.
func trusted(u *auth.User) bool {
	return u.InGroup(auth.MastersGroup) || u.InGroup(auth.MonitoringGroup)
}

// name returns the method and the path, in which the names of objects are left out.
func name(of Request) string {
	i := of.Info
	if !i.IsResource {
		return of.HTTP.Method
	}
	path := "/" + i.Prefix
	if i.Group != "" {
		path += "/" + i.Group
	}
	path += "/" + i.Version
	if i.Namespace != "" {
		path += "/namespaces/{:namespace}"
	}
	path += "/" + i.Resource
	if i.Name != "" {
		path += "/{:name}"
	}
	if i.Subresource != "" {
		path += "/" + i.Subresource
	}
	return of.HTTP.Method + " " + path
}

// End ends the span of a request with the status code of its response.
func End(span trace.Span, code int) {
	span.SetAttributes(attribute.Int("http.response.status_code", code))
	if code >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
