package rbac

import (
	"context"
	"sync"

	"fairlead.dev/internal/server/auth"
)

// Source provides all roles and bindings.
type Source interface {
	// Poll returns the present objects if they have changed since the last Poll. It does not wait for events. Calls
	// don't overlap.
	Poll(ctx context.Context) (o Objects, changed bool, err error)
}

// Authorizer authorizes by the present Policy of a Source.
type Authorizer struct {
	source Source
	mu     struct {
		sync.Mutex
		policy *Policy
	}
}

// New returns an Authorizer over src. It reads src on the first request.
func New(src Source) *Authorizer {
	a := &Authorizer{source: src}
	a.mu.policy = NewPolicy(Objects{})
	return a
}

// Policy returns the present Policy. With an error it is the last known one.
func (a *Authorizer) Policy(ctx context.Context) (*Policy, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, changed, err := a.source.Poll(ctx)
	if err == nil && changed {
		a.mu.policy = policyOf(o)
	}
	return a.mu.policy, err
}

// Authorize implements auth.Authorizer. If the Source fails, permissions of the last known Policy still count.
func (a *Authorizer) Authorize(ctx context.Context, at auth.Attributes) (auth.Decision, string, error) {
	p, err := a.Policy(ctx)
	ok, reason := p.Authorize(at)
	if ok {
		return auth.Allow, reason, nil
	}
	return auth.NoOpinion, reason, err
}
