package server

import (
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// gate bounds how many requests of a sort run at once.
type gate struct {
	limit  int64
	inside atomic.Int64
}

// enter lets one more in, or refuses it with 429 if there are too many.
func (g *gate) enter() error {
	if n := g.inside.Add(1); g.limit > 0 && n > g.limit {
		g.inside.Add(-1)
		return apierrors.NewTooManyRequests("Too many requests, please try again later.", 1)
	}
	return nil
}

func (g *gate) leave() { g.inside.Add(-1) }
