package server

import "fairlead.dev/internal/server/spans"

// beginSpan begins the span of the request, whose user is known, if requests are recorded.
func (c *serving) beginSpan() {
	if c.s.spans == nil {
		return
	}
	c.Context, c.span = c.s.spans.Start(c.Context, spans.Request{HTTP: c.HTTP, Info: &c.Info, User: c.User, Began: c.Start, AuditID: c.auditID})
}

// endSpan returns a function that calls end and ends the span of the request, if there is one.
func (c *serving) endSpan(end func(bytes int64)) func(bytes int64) {
	span, code := c.span, c.Writer.Code
	if span == nil {
		return end
	}
	return func(bytes int64) {
		end(bytes)
		spans.End(span, code)
	}
}
