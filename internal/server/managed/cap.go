package managed

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// capUpdates merges the oldest updates of each version into one entry of the manager "ancient-changes" until no
// more than maxUpdates are left.
func capUpdates(holders []*holder) []*holder {
	var updates []*holder
	for _, h := range holders {
		if h.Operation == metav1.ManagedFieldsOperationUpdate {
			updates = append(updates, h)
		}
	}
	excess := len(updates) - maxUpdates
	if excess <= 0 {
		return holders
	}
	slices.SortStableFunc(updates, func(a, b *holder) int {
		return cmp.Or(cmp.Compare(seconds(a.Time), seconds(b.Time)), cmp.Compare(a.Manager, b.Manager),
			cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
	})
	bucketOf := map[string]*holder{} // by version; at first the oldest entry of the version, unmerged
	for _, h := range updates {
		if h.Manager == ancient && h.Subresource == "" {
			bucketOf[h.APIVersion] = h
		}
	}
	first := map[string]*holder{}
	for _, h := range updates {
		if excess == 0 {
			break
		}
		was := first[h.APIVersion]
		if was == nil {
			first[h.APIVersion] = h
			continue
		}
		bucket := bucketOf[h.APIVersion]
		if bucket == nil {
			was.Manager, was.Subresource = ancient, ""
			bucket, bucketOf[h.APIVersion] = was, was
		}
		if h == bucket {
			continue
		}
		bucket.fields().union(h.fields(), member)
		bucket.Time = h.Time
		holders = slices.DeleteFunc(holders, func(x *holder) bool { return x == h })
		excess--
	}
	return holders
}
