package testenv

import (
	"context"

	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane"
)

// plane is the control plane of an environment, and state is what forks begin with. They keep the types of package
// controlplane out of this package's: a program that uses these would compile the methods of all generic types in a
// control plane.
type (
	plane interface {
		Config() *rest.Config
		KubeconfigPath() string
		Wait(context.Context) error
		Stop() error
		// freeze stops the control plane and keeps its state.
		freeze(context.Context) (state, error)
	}
	state interface {
		fork(context.Context, controlplane.Place) (plane, error)
		Close() error
	}
)

// running implements plane, and frozen state.
type (
	running struct{ *controlplane.ControlPlane }
	frozen  struct{ *controlplane.Frozen }
)

func (r running) freeze(ctx context.Context) (state, error) {
	f, err := r.Freeze(ctx)
	if err != nil {
		return nil, err
	}
	return frozen{f}, nil
}

func (f frozen) fork(ctx context.Context, at controlplane.Place) (plane, error) {
	cp, err := f.Fork(ctx, at)
	if err != nil {
		return nil, err
	}
	return running{cp}, nil
}
