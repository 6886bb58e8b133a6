package clusters

import (
	"context"

	"fairlead.dev/internal/controlplane"
)

// FailStart makes the start of a control plane without an origin fail with the error that the function returns for the
// attempt, counted from 1. The call comes before the server's start.
func (h *Host) FailStart(of func(attempt int) error) {
	attempt := 0
	h.start = func(ctx context.Context, o controlplane.Options) (*controlplane.ControlPlane, error) {
		attempt++
		if err := of(attempt); err != nil {
			return nil, err
		}
		return controlplane.Start(ctx, o)
	}
}
