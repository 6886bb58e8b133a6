package admission

import (
	"context"
	"errors"
)

// AlwaysDeny rejects all writes.
type AlwaysDeny struct{}

// Name implements Plugin.
func (AlwaysDeny) Name() string { return "AlwaysDeny" }

// Admit implements Mutator.
func (AlwaysDeny) Admit(_ context.Context, r *Request) error {
	return forbid(r, errors.New("admission control is denying all modifications"))
}
