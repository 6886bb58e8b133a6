package job

import (
	"slices"
	"strconv"
	"strings"
)

// interval is the indexes first to last, both included.
type interval struct{ first, last int }

// intervals is a set of indexes: ordered, and with a gap between any two. As text it is "0-3,5,7,8": two neighbours
// are written separately, three together.
type intervals []interval

// parseIntervals parses a set, ignoring malformed parts and indexes not below limit.
func parseIntervals(s string, limit int) intervals {
	var out intervals
	for part := range strings.SplitSeq(s, ",") {
		a, b, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(a)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(b); err != nil {
				continue
			}
		}
		if first >= limit {
			break
		}
		out = out.append(interval{first, min(last, limit-1)})
	}
	return out
}

// append adds an interval that does not begin before the last one.
func (s intervals) append(i interval) intervals {
	if n := len(s); n > 0 && i.first <= s[n-1].last+1 {
		s[n-1].last = max(s[n-1].last, i.last)
		return s
	}
	return append(s, i)
}

// union returns the indexes that are in either set.
func (s intervals) union(t intervals) intervals {
	all := slices.Concat(s, t)
	slices.SortFunc(all, func(a, b interval) int { return a.first - b.first })
	var out intervals
	for _, i := range all {
		out = out.append(i)
	}
	return out
}

// with returns the set and the indexes.
func (s intervals) with(indexes ...int) intervals {
	more := make(intervals, len(indexes))
	for i, n := range indexes {
		more[i] = interval{n, n}
	}
	return s.union(more)
}

func (s intervals) count() (n int) {
	for _, i := range s {
		n += i.last - i.first + 1
	}
	return n
}

func (s intervals) has(n int) bool {
	_, found := slices.BinarySearchFunc(s, n, func(i interval, n int) int {
		switch {
		case i.last < n:
			return -1
		case i.first > n:
			return 1
		}
		return 0
	})
	return found
}

// common counts the indexes that are in both sets.
func (s intervals) common(t intervals) (n int) {
	for i, j := 0, 0; i < len(s) && j < len(t); {
		n += max(0, min(s[i].last, t[j].last)-max(s[i].first, t[j].first)+1)
		if s[i].last < t[j].last {
			i++
		} else {
			j++
		}
	}
	return n
}

// missing returns the first n indexes below limit that are not in the set.
func (s intervals) missing(n, limit int) []int {
	var out []int
	next := 0
	for _, i := range append(slices.Clone(s), interval{limit, limit}) {
		for ; next < i.first && next < limit && len(out) < n; next++ {
			out = append(out, next)
		}
		next = max(next, i.last+1)
	}
	return out
}

func (s intervals) String() string {
	var b strings.Builder
	for _, i := range s {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(i.first))
		if i.last == i.first {
			continue
		}
		if i.last == i.first+1 {
			b.WriteByte(',')
		} else {
			b.WriteByte('-')
		}
		b.WriteString(strconv.Itoa(i.last))
	}
	return b.String()
}
