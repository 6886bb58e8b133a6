package watch

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/watch/source"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// frames yields the frames of a stream: the state that the watch begins with, then the events of a
// source, with bookmarks between them. It belongs to the goroutine or connection that serves the
// watch.
type frames struct {
	encoder
	// first is the rest of the state that the watch begins with; nil when all of it has been
	// sent.
	first *Initial
	// begun is called when all of it has been shown; nil after that.
	begun func()
	// src has the events; left are those that there was no room for.
	src  source.Source
	left []watchcache.Event
	// picking, if set, filters events further.
	picking *represent.Selected
	// live: the watch goes on until end, with a bookmark at mark and then each time that every
	// has passed, 0 for none. clock rings for both.
	live      bool
	end, mark time.Time
	every     time.Duration
	clock     *time.Timer
	// ended: the server is stopping.
	ended atomic.Bool
}

// next appends the frames that are due to dst, about limit bytes of them, and reports whether
// there are more at once. With an error they are the last.
func (f *frames) next(dst []byte, limit int) (_ []byte, more bool, err error) {
	if f.ended.Load() {
		return dst, false, io.EOF
	}
	ready, err := f.src.Begin()
	if err != nil {
		return dst, false, err
	}
	var now time.Time
	defer func() { f.src.End(now) }()
	var progress storage.Revision
	if ready {
		dst, progress, more, err = f.appendPending(dst, limit)
		if err == source.ErrHeld {
			return dst, false, nil
		}
		if more || err != nil {
			return dst, more, err
		}
	}
	now = time.Now()
	return f.appendDue(dst, now, progress)
}

// appendPending appends the initial state and then events, until there are no more or about
// limit bytes have been appended. progress is the revision up to which the stream has shown
// all, 0 if that is not known.
func (f *frames) appendPending(dst []byte, limit int) (_ []byte, progress storage.Revision, more bool, err error) {
	if f.first != nil {
		if dst, more, err = f.appendFirst(dst, limit); more || err != nil {
			return dst, 0, more, err
		}
	}
	full := len(dst) + limit
	for {
		if len(f.left) == 0 {
			f.left, progress, err = f.src.Next()
			if err != nil || len(f.left) == 0 {
				f.left = nil
				dst, err = f.sourceEnded(dst, err)
				return dst, progress, false, err
			}
		}
		n := 0
		for n < len(f.left) && len(dst) < full {
			if dst, err = f.appendSelected(dst, f.left[n]); err != nil {
				return dst, 0, false, err
			}
			n++
		}
		f.src.Shown(f.left[:n])
		f.left = f.left[n:]
		if len(dst) >= full {
			return dst, 0, true, nil
		}
	}
}

// sourceEnded appends the event that tells the client why the source has no more events, unless
// the kind is gone or defined anew, or they only wait.
func (f *frames) sourceEnded(dst []byte, err error) ([]byte, error) {
	switch {
	case err == nil, err == source.ErrHeld, err == io.EOF:
		return dst, err
	case !errors.Is(err, storage.ErrClosed) || f.cfg.Holds(f.rep.Endpoint):
		dst = f.appendFailure(dst, err)
	}
	return dst, io.EOF
}

// appendSelected appends the frame of an event, if the watch selects it.
func (f *frames) appendSelected(dst []byte, e watchcache.Event) ([]byte, error) {
	if f.picking == nil {
		return f.appendEvent(dst, e)
	}
	shown, ok, err := f.picking.Event(f.rep, e)
	switch {
	case err != nil:
		f.cfg.Log.Error("watch event cannot be selected", "key", e.Object.Key(), "error", err)
		return dst, err
	case !ok:
		return dst, nil
	}
	return f.appendEvent(dst, shown)
}

// appendDue appends a bookmark at progress if it is time for one, and ends the watch when its
// time is over.
func (f *frames) appendDue(dst []byte, now time.Time, progress storage.Revision) (_ []byte, more bool, err error) {
	switch {
	case !now.Before(f.end):
		if f.every != 0 && progress != 0 {
			dst, _ = f.appendBookmark(dst, progress, false)
		}
		return dst, false, io.EOF
	case f.every != 0 && !now.Before(f.mark):
		if progress != 0 {
			if dst, err = f.appendBookmark(dst, progress, false); err != nil {
				return dst, false, err
			}
		}
		f.mark = now.Add(f.every)
		f.clock.Reset(min(f.every, f.end.Sub(now)))
	}
	return dst, false, nil
}

// appendFirst appends about limit bytes of the initial state, and reports whether there is
// more of it.
func (f *frames) appendFirst(dst []byte, limit int) (_ []byte, more bool, err error) {
	full := len(dst) + limit
	for o := f.first.walk.Next(); o != nil; o = f.first.walk.Next() {
		if f.picking != nil && f.picking.Objects[o.Key()] == nil {
			continue
		}
		dst, err = f.appendEvent(dst, watchcache.Event{Type: watch.Added, Object: o, Revision: o.Revision()})
		if err != nil {
			return dst, false, err
		}
		if len(dst) >= full {
			return dst, true, nil
		}
	}
	if f.first.bookmark {
		dst, err = f.appendBookmark(dst, f.first.revision, true)
	}
	f.first = nil
	f.hasBegun()
	return dst, false, err
}

func (f *frames) hasBegun() {
	if f.begun != nil {
		f.begun()
		f.begun = nil
	}
}
