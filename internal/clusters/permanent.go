package clusters

import (
	"errors"

	"fairlead.dev/storage"
)

// permanent is an error that another attempt to start the same control plane would end with, too.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// isPermanent reports whether a start with this error is not tried again: its spec cannot be carried out, the state that
// it asks for is not kept, or its quota is too small for the objects that it begins with.
func isPermanent(err error) bool {
	return errors.As(err, new(permanent)) || errors.Is(err, storage.ErrCompacted) ||
		errors.Is(err, storage.ErrFutureRevision) || errors.Is(err, storage.ErrNoSpace)
}
