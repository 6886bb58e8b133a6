package controller

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Runner runs until ctx ends. A Controller is one, and so is an Informer.
type Runner interface {
	Run(ctx context.Context) error
}

// Runners run together: if one of them fails, the others are stopped.
type Runners []Runner

// Run runs all of them until ctx ends, and returns the first error.
func (rs Runners) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, r := range rs {
		g.Go(func() error { return r.Run(ctx) })
	}
	return g.Wait()
}
