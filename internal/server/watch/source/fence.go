package source

import (
	"io"
	"sync/atomic"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// A Settler reports whether the definitions that the watch caches hold are in effect.
type Settler interface{ Settled() bool }

// A Fence decorates the source of a watch of a custom resource. It shows no event before the
// definitions that precede it in the log have taken effect, and ends the watch if the kind has
// another definition, as kube-apiserver does: the client's next watch goes on by the new one.
type Fence struct {
	Source
	ep          *endpoint.Endpoint
	definitions Settler
	// kept are events that have been read and not been shown.
	kept     []watchcache.Event
	progress storage.Revision
	// held: kept events may have to wait for definitions to settle.
	held atomic.Bool
}

// NewFence returns src behind a fence.
func NewFence(src Source, ep *endpoint.Endpoint, definitions Settler) *Fence {
	return &Fence{Source: src, ep: ep, definitions: definitions}
}

// Held reports whether events wait for definitions to settle. Any goroutine may call it: the one that
// settles them rings for the streams that are held.
func (f *Fence) Held() bool { return f.held.Load() }

// Next implements Source.
func (f *Fence) Next() ([]watchcache.Event, storage.Revision, error) {
	if len(f.kept) == 0 {
		var err error
		if f.kept, f.progress, err = f.Source.Next(); err != nil {
			return nil, 0, err
		}
		f.held.Store(true)
	}
	if !f.definitions.Settled() {
		return nil, 0, ErrHeld // held has been set before, so the stream is rung
	}
	f.held.Store(false)
	if f.ep.Retired.Load() {
		return nil, 0, io.EOF
	}
	events := f.kept
	f.kept = nil
	return events, f.progress, nil
}
