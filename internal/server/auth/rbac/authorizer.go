package rbac

import (
	"context"
	"sync"

	"fairlead.dev/internal/server/auth"
)

// Source tells of all roles and bindings.
type Source interface {
	// Poll returns the present objects if they are others than at the last
	// Poll, without waiting. Calls don't overlap.
	Poll(ctx context.Context) (o Objects, changed bool, err error)
}

// Authorizer answers by the present Policy of a Source.
type Authorizer struct {
	source Source
	mu     struct {
		sync.Mutex
		policy *Policy
	}
}

// New returns an Authorizer over src. It reads nothing before the first
// question.
func New(src Source) *Authorizer {
	a := &Authorizer{source: src}
	a.mu.policy = NewPolicy(Objects{})
	return a
}

// Policy is the present one. With an error it is the last that was known.
func (a *Authorizer) Policy(ctx context.Context) (*Policy, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, changed, err := a.source.Poll(ctx)
	if err == nil && changed {
		a.mu.policy = NewPolicy(o)
	}
	return a.mu.policy, err
}

// Authorize implements auth.Authorizer; a yes by what was known last is good
// even if the Source fails.
func (a *Authorizer) Authorize(ctx context.Context, at auth.Attributes) (bool, string, error) {
	p, err := a.Policy(ctx)
	ok, reason := p.Authorize(at)
	if ok {
		return true, reason, nil
	}
	return false, reason, err
}
