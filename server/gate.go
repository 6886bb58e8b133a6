package server

import "sync/atomic"

// gate bounds how many run at once of what takes a place.
type gate struct {
	limit  int64 // not above 0: no bound
	inside atomic.Int64
}

// enter takes a place, and reports whether there was one.
func (g *gate) enter() bool {
	if n := g.inside.Add(1); g.limit > 0 && n > g.limit {
		g.inside.Add(-1)
		return false
	}
	return true
}

func (g *gate) leave() { g.inside.Add(-1) }
