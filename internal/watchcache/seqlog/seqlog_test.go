package seqlog

import (
	"slices"
	"testing"
)

// TestViewsSurviveCuts cuts and appends beside views, which must keep their items.
func TestViewsSurviveCuts(t *testing.T) {
	var l Log[int]
	type view struct {
		from, end uint64
		items     []int
	}
	var views []view
	for i := range 1000 {
		l.Append(i)
		views = append(views, view{l.First(), l.End(), l.View(l.First())})
		if i%7 == 6 {
			l.Cut(min(len(l.Items()), i%11))
		}
	}
	for _, v := range views {
		if uint64(len(v.items)) != v.end-v.from {
			t.Fatalf("%d items from %d to %d", len(v.items), v.from, v.end)
		}
		for i, item := range v.items {
			if uint64(item) != v.from+uint64(i) {
				t.Fatalf("item %d is %d", v.from+uint64(i), item)
			}
		}
	}
}

// TestCutFreesMemory: the memory of cut items is freed before it exceeds that of the rest.
func TestCutFreesMemory(t *testing.T) {
	var l Log[int]
	for i := range 100 {
		l.Append(i)
	}
	for range 99 {
		l.Cut(1)
		if l.dead > len(l.items) {
			t.Fatalf("%d cut items are held beside %d", l.dead, len(l.items))
		}
	}
	if got := l.Items(); !slices.Equal(got, []int{99}) || l.First() != 99 {
		t.Fatalf("%v from %d are left", got, l.First())
	}
	if l.Cut(1); l.Items() != nil || l.End() != 100 {
		t.Fatalf("%v up to %d after the last cut", l.Items(), l.End())
	}
}
