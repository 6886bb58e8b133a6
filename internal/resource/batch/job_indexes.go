package batch

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource/check"
)

// jobIndexes requires well-formed lists of completed and failed indexes that do not overlap, if the write changes them.
func jobIndexes(f *check.Errors, p *check.Path, j, old *batchv1.Job) {
	s, was, n := &j.Status, &old.Status, j.Spec.Completions
	completes, fails := s.CompletedIndexes != was.CompletedIndexes, !ptr.Equal(s.FailedIndexes, was.FailedIndexes)
	at := p.Child("completedIndexes")
	if completes && n != nil {
		if _, err := countIndexes(s.CompletedIndexes, *n); err != nil {
			f.Invalid(at, s.CompletedIndexes, fmt.Sprintf("error parsing completedIndexes: %v", err))
		}
	}
	if completes && s.CompletedIndexes != "" && !indexed(&j.Spec) {
		f.Invalid(at, s.CompletedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if s.FailedIndexes == nil {
		return
	}
	at = p.Child("failedIndexes")
	switch {
	case !fails:
	case j.Spec.BackoffLimitPerIndex == nil:
		f.Invalid(at, *s.FailedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	case n != nil:
		if _, err := countIndexes(*s.FailedIndexes, *n); err != nil {
			f.Invalid(at, s.FailedIndexes, fmt.Sprintf("error parsing failedIndexes: %v", err))
		}
	}
	if (completes || fails) && n != nil {
		if i, ok := commonIndex(s.CompletedIndexes, *s.FailedIndexes, *n); ok {
			f.Invalid(at, *s.FailedIndexes, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", i))
		}
	}
}

// countIndexes parses a list like "1,3-5,7" of increasing indexes below the number of completions, and returns
// their number.
func countIndexes(list string, completions int32) (int32, error) {
	if list == "" {
		return 0, nil
	}
	last, total := int32(-1), int32(0)
	for _, text := range strings.Split(list, ",") {
		first, to, err := parseInterval(text, completions)
		if err != nil {
			return 0, err
		}
		if last >= first {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, first)
		}
		last, total = to, total+to-first+1
	}
	return total, nil
}

// parseInterval parses "3" or "3-5".
func parseInterval(text string, completions int32) (first, last int32, err error) {
	ends := strings.Split(text, "-")
	if len(ends) > 2 {
		return 0, 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	var bounds [2]int32
	for i, end := range ends {
		n, err := strconv.Atoi(end)
		if err != nil {
			return 0, 0, fmt.Errorf("cannot convert string to integer for index: %q", end)
		}
		if n >= int(completions) {
			return 0, 0, fmt.Errorf("too large index: %q", end)
		}
		bounds[i] = int32(n)
	}
	if len(ends) == 1 {
		return bounds[0], bounds[0], nil
	}
	if bounds[0] >= bounds[1] {
		return 0, 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", bounds[0], bounds[1])
	}
	return bounds[0], bounds[1], nil
}

// commonIndex returns the first index that two increasing lists have in common. Malformed intervals are left out.
func commonIndex(a, b string, completions int32) (int32, bool) {
	as, bs := intervals(a, completions), intervals(b, completions)
	for len(as) > 0 && len(bs) > 0 {
		x, y := as[0], bs[0]
		switch {
		case x[0] <= y[1] && y[0] <= x[1]:
			return max(x[0], y[0]), true
		case x[0] <= y[0]:
			as = as[1:]
		default:
			bs = bs[1:]
		}
	}
	return 0, false
}

func intervals(list string, completions int32) (all [][2]int32) {
	for _, text := range strings.Split(list, ",") {
		if first, last, err := parseInterval(text, completions); err == nil {
			all = append(all, [2]int32{first, last})
		}
	}
	return all
}
