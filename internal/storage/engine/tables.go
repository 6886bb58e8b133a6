package engine

import (
	"bytes"
	"slices"
)

// A Sweep is the thoroughness of one run of the cleaner.
type Sweep struct {
	// Share: a table is rewritten if at least one in Share of its bytes is dead.
	Share uint64
	// All: go through all tables from the oldest on.
	All bool
}

// A table is a part of the log on disk: the records from lo up to end, without end.
type table struct {
	lo, end []byte
	// size is the approximate size of its records, dead that of those that may be dropped.
	size, dead uint64
}

// tables lists the tables of the log below end in its order. Overlapping ones count as one.
func (e *Engine) tables(end []byte, g Garbage, kept uint64) ([]table, error) {
	levels, err := e.db.SSTables()
	if err != nil {
		return nil, err
	}
	var all []table
	sum := uint64(1)
	for _, t := range slices.Concat(levels...) {
		if bytes.Compare(t.Smallest.UserKey, end) >= 0 {
			continue
		}
		all = append(all, table{lo: t.Smallest.UserKey, end: append(slices.Clone(t.Largest.UserKey), 0), size: t.Size})
		sum += t.Size
	}
	slices.SortFunc(all, func(a, b table) int { return bytes.Compare(a.lo, b.lo) })
	out := all[:0]
	for _, t := range all {
		t.size = max(1, uint64(float64(t.size)*float64(kept+g.Bytes)/float64(sum))) // as if not compressed
		if bytes.Compare(t.end, end) > 0 {
			t.end = end
		}
		if n := len(out); n > 0 && bytes.Compare(t.lo, out[n-1].end) < 0 {
			if out[n-1].size += t.size; bytes.Compare(out[n-1].end, t.end) < 0 {
				out[n-1].end = t.end
			}
			continue
		}
		out = append(out, t)
	}
	for i := range out {
		t := &out[i]
		graves := g.mayBury(t.lo)
		g.records.Ascend(deadAt(t.lo), func(d Dead) bool {
			if !d.less(deadAt(t.end)) {
				return false
			}
			if graves || !d.grave {
				t.dead += uint64(d.size)
			}
			return true
		})
	}
	return out, nil
}

// pick chooses neighbouring tables to be rewritten as one: those with the largest dead part or, if
// w goes through all, the first with any. It takes so many that about a segment remains of them.
func pick(ts []table, w Sweep, segment uint64) []table {
	best := -1
	for i, t := range ts {
		switch {
		case t.dead == 0 || !w.All && t.dead*w.Share < t.size:
		case best < 0 || float64(t.dead)/float64(t.size) > float64(ts[best].dead)/float64(ts[best].size):
			best = i
		}
		if w.All && best >= 0 {
			break
		}
	}
	if best < 0 {
		return nil
	}
	left := ts[best].live()
	joins := func(t table) bool {
		if left+t.live() > segment || t.dead*6 < t.size && t.size*4 > segment {
			return false
		}
		left += t.live()
		return true
	}
	i, j := best, best+1
	for j < len(ts) && joins(ts[j]) {
		j++
	}
	for !w.All && i > 0 && joins(ts[i-1]) {
		i--
	}
	return ts[i:j]
}

func (t table) live() uint64 { return t.size - min(t.size, t.dead) }
