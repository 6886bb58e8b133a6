package audit

import (
	"fmt"
	"io"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	utilwebhook "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/audit/buffered"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"
	"k8s.io/apiserver/plugin/pkg/audit/webhook"
)

// Auditor records requests.
type Auditor struct {
	policy  audit.PolicyRuleEvaluator
	backend audit.Backend
	stop    chan struct{}
	close   func() // closes the log
}

// New reads the policy and opens the backends. It returns nil if the options have no policy or no backend.
func New(o Options) (*Auditor, error) {
	if o.PolicyFile == "" {
		return nil, nil
	}
	p, err := policy.LoadPolicyFromFile(o.PolicyFile)
	if err != nil {
		return nil, fmt.Errorf("the audit policy: %w", err)
	}
	a := &Auditor{policy: policy.NewPolicyRuleEvaluator(p), stop: make(chan struct{}), close: func() {}}
	var backends []audit.Backend
	if l := &o.Log; l.Path != "" {
		out, err := l.open()
		if err != nil {
			return nil, fmt.Errorf("the audit log: %w", err)
		}
		if c, ok := out.(io.Closer); ok && l.Path != "-" {
			a.close = func() { c.Close() }
		}
		backends = append(backends, l.Delivery.truncated(l.Delivery.delivered(auditlog.NewBackend(out, l.Format, l.Delivery.version()))))
	}
	if w := &o.Webhook; w.ConfigFile != "" {
		b, err := webhook.NewBackend(w.ConfigFile, w.Delivery.version(), utilwebhook.DefaultRetryBackoffWithInitialDelay(w.InitialBackoff), w.Dial)
		if err != nil {
			a.close()
			return nil, fmt.Errorf("the audit webhook: %w", err)
		}
		backends = append(backends, w.Delivery.truncated(w.Delivery.delivered(b)))
	}
	if len(backends) == 0 {
		return nil, nil
	}
	a.backend = audit.Union(backends...)
	if err := a.backend.Run(a.stop); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// Close writes the events that are in buffers, and ends the backends. The server must have answered all requests.
func (a *Auditor) Close() {
	close(a.stop)
	a.backend.Shutdown()
	a.close()
}

// delivered returns the backend in the mode of the options.
func (d *Delivery) delivered(b audit.Backend) audit.Backend {
	switch d.Mode {
	case BlockingStrict:
		return b
	case Blocking:
		return lenient{b}
	}
	return buffered.NewBackend(b, d.Batch)
}

// truncated bounds the size of the events that the backend gets, if the options want that.
func (d *Delivery) truncated(b audit.Backend) audit.Backend {
	if !d.Truncates {
		return b
	}
	return truncate.NewBackend(b, d.Truncate, d.version())
}

// lenient is a backend whose failures have no effect on requests.
type lenient struct{ audit.Backend }

func (l lenient) ProcessEvents(events ...*auditinternal.Event) bool {
	l.Backend.ProcessEvents(events...)
	return true
}
