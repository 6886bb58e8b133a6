package workqueue

import (
	"math/rand/v2"
	"testing"
)

// TestTable compares the table with a map while bursts of keys come and go, most of them
// with equal hashes: which keys are found, at which index, and that the memory of a burst
// hasKey freed although some of its keys stay.
func TestTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var s table[int]
	at := map[int]int32{}
	hash := func(k int) uint32 { return uint32(k%977) * 0x9e3779b9 }
	check := func(k int) {
		t.Helper()
		if got := s.find(k, hash(k)); got != at[k] {
			t.Fatalf("key %d is found at %d, want %d", k, got, at[k])
		}
	}
	for round, n := range []int{10, 3000, 5, 20000, 1, 700, 20000, 0} {
		for len(at) < n {
			k := rnd.IntN(100_000)
			i := s.put(k, hash(k))
			if was, ok := at[k]; ok && was != i {
				t.Fatalf("key %d moved from %d to %d", k, was, i)
			}
			at[k] = i
			check(rnd.IntN(100_000))
		}
		for k, i := range at { // in any order
			if len(at) <= n/10 {
				break
			}
			if s.at(i).key != k {
				t.Fatalf("key %d stands where %d should", s.at(i).key, k)
			}
			s.remove(i)
			delete(at, k)
			check(k)
		}
		for k := range 1000 {
			check(k)
		}
		if s.n != len(at) {
			t.Fatalf("round %d: %d keys, want %d", round, s.n, len(at))
		}
	}
	for k, i := range at {
		s.remove(i)
		delete(at, k)
	}
	held := 0
	for _, p := range s.pages {
		if p != nil {
			held++
		}
	}
	if held*size > keep+2*size {
		t.Errorf("an empty table holds %d pages of %d", held, size)
	}
	if len(s.slots) > 16*(keep+2*size) {
		t.Errorf("an empty table holds %d slots", len(s.slots))
	}
}
