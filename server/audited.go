package server

import (
	"fmt"
	"net/http"

	"fairlead.dev/internal/server/audit"
)

// AuditOptions configure an Auditor. DefaultAuditOptions returns the defaults.
type AuditOptions = audit.Options

// AuditLog configures the files of an Auditor, AuditWebhook the server that it sends events to, and AuditDelivery how each
// gets them.
type (
	AuditLog      = audit.Log
	AuditWebhook  = audit.Webhook
	AuditDelivery = audit.Delivery
)

// DefaultAuditOptions returns the defaults of kube-apiserver, without a policy or a backend.
func DefaultAuditOptions() AuditOptions { return audit.DefaultOptions() }

// Auditor records the requests of a server as the audit log of kube-apiserver does. It must outlive the server.
type Auditor struct{ recorder *audit.Auditor }

// NewAuditor reads the policy and opens the backends. It returns nil if the options have no policy or no backend.
func NewAuditor(o AuditOptions) (*Auditor, error) {
	a, err := audit.New(o)
	if a == nil || err != nil {
		return nil, err
	}
	return &Auditor{a}, nil
}

// Close writes the events that wait in buffers and closes the backends. The server must have answered all requests.
func (a *Auditor) Close() { a.recorder.Close() }

// beginAudit gives the request a context in which it can be recorded.
func (c *serving) beginAudit() {
	if a := c.s.cfg.Audit; a != nil {
		c.Context = a.recorder.Context(c.Context, c.auditID)
		c.HTTP = c.HTTP.WithContext(c.Context)
	}
}

// openAudit begins to record the request, whose user is known.
func (c *serving) openAudit() error {
	a := c.s.cfg.Audit
	if a == nil {
		return nil
	}
	return c.audit(a.recorder.Open(c.HTTP, c.Attributes(c.Info.Verb, c.Info.Name), c.Start, c.Info.LongRunning()))
}

// auditFailed begins to record a request that is refused before it has a user, with the reason.
func (c *serving) auditFailed(reason string) error {
	a := c.s.cfg.Audit
	if a == nil {
		return nil
	}
	return c.audit(a.recorder.OpenFailed(c.HTTP, c.Attributes(c.Info.Verb, c.Info.Name), c.Start, reason))
}

func (c *serving) audit(record *audit.Record, err error) error {
	if record != nil {
		w := c.Writer
		c.Audit, w.Begun = record, func(code int) { record.Begin(code, w.Header()) }
	}
	return err
}

// refuseUnaudited answers with audit.ErrNotStored.
func (c *serving) refuseUnaudited() {
	http.Error(c.Writer, fmt.Sprintf("Internal Server Error: %q: %v", c.HTTP.RequestURI, audit.ErrNotStored), http.StatusInternalServerError)
}
