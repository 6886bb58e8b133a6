package watch

import (
	"io"
	"sync/atomic"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// fence is the source of a watch of a custom resource. It shows no event before the
// definitions that precede it in the log have taken effect, and ends the watch if the kind has
// another definition, as kube-apiserver does: the client's next watch goes on by the new one.
type fence struct {
	source
	ep          *endpoint.Endpoint
	definitions settler
	// kept are events that have been read and not been shown.
	kept     []watchcache.Event
	progress storage.Revision
	// held: kept events may have to wait for definitions to settle. The goroutine that settles
	// them rings for streams that are held.
	held atomic.Bool
}

func (f *fence) next() ([]watchcache.Event, storage.Revision, error) {
	if len(f.kept) == 0 {
		var err error
		if f.kept, f.progress, err = f.source.next(); err != nil {
			return nil, 0, err
		}
		f.held.Store(true)
	}
	if !f.definitions.Settled() {
		return nil, 0, errHeld // held has been set before, so the stream is rung
	}
	f.held.Store(false)
	if f.ep.Retired.Load() {
		return nil, 0, io.EOF
	}
	events := f.kept
	f.kept = nil
	return events, f.progress, nil
}
