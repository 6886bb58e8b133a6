package server

import (
	"context"

	oteltrace "go.opentelemetry.io/otel/trace"

	"fairlead.dev/internal/server/call"
)

// serving is a request that is being answered. It belongs to the goroutine that serves it.
type serving struct {
	call.Call
	s *Server
	// auditID identifies the request to its client, in the header Audit-ID.
	auditID string
	// forget takes a watch out of those that make writes wider; nil for other requests.
	forget func()
	// span is that of the request, if requests are recorded.
	span oteltrace.Span
	// handed: the connection sends the rest of the response.
	handed bool
	// endContext ends the request's context where net/http serves HTTP/2; nil elsewhere.
	endContext context.CancelFunc
}
