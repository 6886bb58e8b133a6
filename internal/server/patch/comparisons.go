package patch

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxComparisons limits the item comparisons of a strategic merge patch. The library compares each item of the
// patch with every item of the target list and of the patch's own list, so a list of a megabyte would take minutes.
const maxComparisons = 32 << 20

// checkComparisons returns an error if a patch would take more comparisons with the lists of the object.
func checkComparisons(object, change map[string]any) error {
	given, _ := items(change)
	_, longest := items(object)
	if n := given * (given + longest); n > maxComparisons {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum comparisons of list items in a strategic merge patch is %d, got up to %d", maxComparisons, n))
	}
	return nil
}

// items counts the items of all lists in a value, and those of its longest list.
func items(v any) (all, longest int) {
	add := func(v any) {
		n, l := items(v)
		all, longest = all+n, max(longest, l)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			add(m)
		}
	case []any:
		all, longest = len(v), len(v)
		for _, m := range v {
			add(m)
		}
	}
	return all, longest
}
