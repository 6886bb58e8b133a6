package admission

import (
	"errors"
	"math/rand/v2"
)

// errFull is returned by an exhausted pool, in kube-apiserver's words.
var errFull = errors.New("range is full")

// pool is a range of numbers, each with at most one owner. An owner is "namespace/name" of a service. It is not
// safe for concurrent use.
type pool struct {
	size int
	// Numbers below low are allocated on request only, or when all others are in use, so that static allocations
	// rarely collide with dynamic ones.
	low    int
	owners map[int]string
}

func newPool(size, low int) *pool { return &pool{size: size, low: low, owners: map[int]string{}} }

// lowBand returns the size of the band reserved for requested numbers: a sixteenth of the range, at least 16 and at
// most limit. Small ranges have no such band.
func lowBand(size, limit int) int {
	if size <= 16 {
		return 0
	}
	return min(max(16, size/16), limit)
}

// take makes owner the owner of n if n is free. stale reports whether an owner no longer holds its number.
func (p *pool) take(n int, owner string, stale func(owner string, n int) bool) bool {
	if have, ok := p.owners[n]; ok && !stale(have, n) {
		return false
	}
	p.owners[n] = owner
	return true
}

// next allocates a random free number.
func (p *pool) next(owner string, stale func(owner string, n int) bool) (int, error) {
	for _, band := range [][2]int{{p.low, p.size}, {0, p.low}} {
		if n, ok := p.scan(band[0], band[1], owner, nil); ok {
			return n, nil
		}
	}
	if n, ok := p.scan(0, p.size, owner, stale); ok {
		return n, nil
	}
	return 0, errFull
}

// scan searches from a random position for a free number in the band.
func (p *pool) scan(begin, end int, owner string, stale func(string, int) bool) (int, bool) {
	if end <= begin {
		return 0, false
	}
	start := rand.IntN(end - begin)
	for i := range end - begin {
		n := begin + (start+i)%(end-begin)
		have, taken := p.owners[n]
		if !taken || stale != nil && stale(have, n) {
			p.owners[n] = owner
			return n, true
		}
	}
	return 0, false
}

// free releases n if it belongs to owner.
func (p *pool) free(n int, owner string) {
	if p.owners[n] == owner {
		delete(p.owners, n)
	}
}
