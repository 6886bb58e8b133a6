package request

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
)

// maxRequirements bounds the requirements of a selector: each of them is checked for each object of a list, and for each event of
// a watch, as long as that is open. Values of one requirement (in, notin) are not counted, since they are looked up.
const maxRequirements = 10_000

// checkSelectors returns an error if a selector has too many requirements.
func checkSelectors(opts *internalversion.ListOptions) error {
	if s := opts.LabelSelector; s != nil {
		if all, _ := s.Requirements(); len(all) > maxRequirements {
			return tooManyRequirements("labelSelector", len(all))
		}
	}
	if s := opts.FieldSelector; s != nil {
		if n := len(s.Requirements()); n > maxRequirements {
			return tooManyRequirements("fieldSelector", n)
		}
	}
	return nil
}

func tooManyRequirements(selector string, n int) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s has %d requirements: at most %d are allowed", selector, n, maxRequirements))
}
