package read

import (
	"iter"
	"slices"

	"fairlead.dev/watchcache"
)

// Collect returns the objects of a list, unless it fails.
func Collect(list iter.Seq[*watchcache.Object], err error) ([]*watchcache.Object, error) {
	if err != nil {
		return nil, err
	}
	return slices.Collect(list), nil
}
