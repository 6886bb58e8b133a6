package watch

import (
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Initial is the rest of the state that a watch begins with.
type Initial struct {
	walk     watchcache.Walk
	revision storage.Revision
	// bookmark: the state ends with a bookmark.
	bookmark bool
}

// NewInitial returns the state that a snapshot shows of a selection.
func NewInitial(snap *watchcache.Snapshot, sel watchcache.Selection, opts *internalversion.ListOptions) (*Initial, error) {
	walk, err := snap.Walk(sel, "")
	if err != nil {
		return nil, err
	}
	return &Initial{walk, snap.Revision(), opts.AllowWatchBookmarks}, nil
}
