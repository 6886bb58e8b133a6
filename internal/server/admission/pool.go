package admission

import (
	"errors"
	"math/rand/v2"
)

// errFull is the error of a pool that has nothing left, in kube-apiserver's words.
var errFull = errors.New("range is full")

// pool is a range of numbers of which each belongs to one owner at most. An
// owner is "namespace/name" of a service. It is not safe for concurrent use.
type pool struct {
	size int
	// low numbers are given out only when asked for, or when the others are
	// all taken, so that fixed ones rarely meet one that was given out.
	low    int
	owners map[int]string
}

func newPool(size, low int) *pool { return &pool{size: size, low: low, owners: map[int]string{}} }

// lowBand is how much of a range is kept for those who ask: a sixteenth, at
// least 16 and at most most; ranges too small for that keep nothing.
func lowBand(size, most int) int {
	if size <= 16 {
		return 0
	}
	return min(max(16, size/16), most)
}

// take makes owner the owner of n, if nobody is. stale tells whether an owner
// has in truth given it up.
func (p *pool) take(n int, owner string, stale func(owner string, n int) bool) bool {
	if have, ok := p.owners[n]; ok && !stale(have, n) {
		return false
	}
	p.owners[n] = owner
	return true
}

// next gives out a number that nobody owns, at random.
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

// scan looks from a random place on for a number below end.
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

// free gives n back, if it is owner's.
func (p *pool) free(n int, owner string) {
	if p.owners[n] == owner {
		delete(p.owners, n)
	}
}
