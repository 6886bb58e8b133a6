package inflight

import "sync/atomic"

// Gate bounds the holders of something. Limit is their number, with no bound if it is not
// above 0.
type Gate struct {
	Limit  int64 // not above 0: no bound
	inside atomic.Int64
}

// Enter takes a place and reports whether there was one.
func (g *Gate) Enter() bool {
	if n := g.inside.Add(1); g.Limit > 0 && n > g.Limit {
		g.inside.Add(-1)
		return false
	}
	return true
}

// Leave gives a place back.
func (g *Gate) Leave() { g.inside.Add(-1) }
