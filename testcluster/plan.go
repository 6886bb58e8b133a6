package testcluster

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// defaultTimeout is that of Options.Timeout.
const defaultTimeout = time.Minute

// plan is the content of Options, read and checked before anything starts.
type plan struct {
	crds, webhooks, stages []manifest
	faults                 []Fault
	// calls reports whether the test has to serve a webhook.
	calls     bool
	timeout   time.Duration
	authority *authority
	log       *log
}

func newPlan(o Options) (p plan, err error) {
	if err := o.check(); err != nil {
		return p, err
	}
	if p.crds, err = o.CRDs.load(crdKinds); err != nil {
		return p, fmt.Errorf("Options.CRDs: %w", err)
	}
	if p.webhooks, err = o.Webhooks.load(webhookKinds); err != nil {
		return p, fmt.Errorf("Options.Webhooks: %w", err)
	}
	if p.stages, err = o.Stages.load(kinds{}); err != nil {
		return p, fmt.Errorf("Options.Stages: %w", err)
	}
	n, err := checkWebhooks(append(slices.Clip(p.crds), p.webhooks...))
	if err != nil {
		return p, err
	}
	if p.timeout = o.Timeout; p.timeout == 0 {
		p.timeout = defaultTimeout
	}
	p.calls, p.faults, p.log = n > 0, o.Faults, &log{to: o.Log}
	p.authority, err = newAuthority()
	return p, err
}

// check reports options that contradict each other.
func (o Options) check() error {
	switch {
	case o.Nodes < 0:
		return fmt.Errorf("Options.Nodes is %d: want 0 or more", o.Nodes)
	case o.NoNodes && o.Nodes > 0:
		return fmt.Errorf("Options.Nodes is %d, and NoNodes is set", o.Nodes)
	case o.NoControllers && len(o.Controllers) > 0:
		return fmt.Errorf("Options.Controllers is %q, and NoControllers is set", o.Controllers)
	case o.Timeout < 0:
		return errors.New("Options.Timeout is below 0")
	}
	return nil
}
