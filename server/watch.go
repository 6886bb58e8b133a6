package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// watchVerb streams what happens to the selected objects. What is wrong with
// the request is its answer; what keeps a proper request from being met, such
// as a history that does not reach so far, is the first event of the stream.
func watchVerb(c *call) error {
	opts, err := c.listOptions()
	if err != nil {
		return err
	}
	sel, err := c.selection(opts)
	if err != nil {
		return err
	}
	f, err := c.form()
	if err != nil {
		return err
	}
	if f.shape == asPartialList {
		f.shape = asPartial
	}
	var after storage.Revision
	if opts.ResourceVersion != "" {
		if after, err = parseRevision(opts.ResourceVersion); err != nil {
			return failure(http.StatusInternalServerError, "", err.Error())
		}
	}
	from, snap, failed := c.startWatch(sel, after, opts)
	if failed != nil {
		from = nil
		failed = c.tooOld(after, failed)
	}
	begin := func() *stream { return c.beginWatch(f, from, snap, failed, sel, opts) }
	if wantsWebSocket(c.req) {
		c.upgrade(f.media, func() { begin().run() })
		return nil
	}
	c.tail = begin()
	return nil
}

// beginWatch sends what a watch begins with. The stream it returns is to be run.
func (c *call) beginWatch(f *form, from *watchcache.Watcher, snap *watchcache.Snapshot, failed error, sel watchcache.Selection, opts *internalversion.ListOptions) *stream {
	st := c.s.streams.open(c, f, from)
	begun := false
	defer func() {
		if !begun {
			st.close()
		}
	}()
	switch {
	case st.begin() != nil: // the client has gone
	case failed != nil:
		st.fail(failed)
	case snap != nil && st.initial(snap, sel, opts) != nil:
	default:
		st.start(c.watchTimeout(opts), opts.AllowWatchBookmarks)
	}
	begun = true
	return st
}

// tooOld says of a start that the history does not hold how far back it goes.
func (c *call) tooOld(after storage.Revision, err error) error {
	if !errors.Is(err, storage.ErrCompacted) {
		return err
	}
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", after, c.s.cfg.Store.Compacted()))
}

// startWatch opens the watcher. If the watch begins with the present state,
// that is the snapshot returned.
func (c *call) startWatch(sel watchcache.Selection, after storage.Revision, opts *internalversion.ListOptions) (*watchcache.Watcher, *watchcache.Snapshot, error) {
	initial := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	if after != 0 && !initial {
		w, err := c.ep.cache.Watch(c.ctx, sel, after)
		return w, nil, err
	}
	at := watchcache.ReadAt{Match: watchcache.Latest}
	switch {
	case after != 0:
		at = watchcache.ReadAt{Match: watchcache.NotOlder, Revision: after}
	case opts.ResourceVersion == "0":
		at.Match = watchcache.Any
	}
	snap, err := c.ep.cache.Snapshot(c.ctx, at)
	if err != nil {
		return nil, nil, err
	}
	w, err := c.ep.cache.WatchFrom(c.ctx, snap, sel)
	if !initial {
		snap = nil
	}
	return w, snap, err
}

// watchTimeout is how long the watch runs.
func (c *call) watchTimeout(opts *internalversion.ListOptions) time.Duration {
	if opts.TimeoutSeconds != nil && *opts.TimeoutSeconds > 0 {
		return time.Duration(*opts.TimeoutSeconds) * time.Second
	}
	return time.Duration(float64(c.s.cfg.WatchTimeout) * (1 + rand.Float64()))
}

// begin sends the head of the answer, so that the client knows it is watching.
func (st *stream) begin() error {
	h := st.c.w.Header()
	h.Set("Content-Type", st.f.media.streamType())
	st.c.w.WriteHeader(http.StatusOK)
	return st.rc.Flush()
}

// initial sends the present state, and the bookmark that ends it if the client
// takes bookmarks.
func (st *stream) initial(snap *watchcache.Snapshot, sel watchcache.Selection, opts *internalversion.ListOptions) error {
	for o := range snap.List(sel, "", 0) {
		if err := st.add(watchcache.Event{Type: watch.Added, Object: o, Revision: o.Revision()}); err != nil {
			return err
		}
	}
	if opts.AllowWatchBookmarks {
		if err := st.bookmark(snap.Revision(), true); err != nil {
			return err
		}
	}
	return st.send(true)
}

// start sets the stream's clock.
func (st *stream) start(timeout time.Duration, bookmarks bool) {
	now := time.Now()
	st.live, st.end = true, now.Add(timeout)
	wake := timeout
	if bookmarks {
		st.every = st.c.s.cfg.BookmarkEvery
		st.mark = now.Add(st.every)
		wake = min(wake, st.every)
	}
	st.clock = time.AfterFunc(wake, st.from.Ring)
	st.unhook = context.AfterFunc(st.c.ctx, st.from.Ring)
}

// run streams events until the time is up, the client goes away or the history
// that it needs is gone.
//
// A hundred thousand streams do nothing but wait here, each on a stack of its
// own. So everything that may happen rings the watcher's one bell, which takes
// less stack to wait for than a choice; and run is called when what has begun
// the watch is off the stack. Both together let the collector halve it.
func (st *stream) run() {
	defer st.close()
	for st.live && st.step() {
		<-st.from.Bell()
	}
}

// step does what there is to do, and says whether there may be more.
func (st *stream) step() bool {
	if st.c.ctx.Err() != nil || st.ended.Load() {
		return false
	}
	progress, err := st.drain(st.from)
	if err != nil {
		return false
	}
	now := time.Now()
	switch {
	case !now.Before(st.end):
		if st.every != 0 && progress != 0 {
			st.bookmark(progress, false)
		}
		st.send(true)
		return false
	case st.every != 0 && !now.Before(st.mark):
		if st.bookmark(progress, false) != nil || st.send(true) != nil {
			return false
		}
		st.mark = now.Add(st.every)
		st.clock.Reset(min(st.every, st.end.Sub(now)))
	}
	return true
}

// drain sends all that is pending in one write. An error ends the stream; the
// client has been told if it is still there.
func (st *stream) drain(w *watchcache.Watcher) (storage.Revision, error) {
	for {
		events, progress, err := w.Next()
		if err != nil {
			st.fail(err)
			return 0, err
		}
		if len(events) == 0 {
			return progress, st.send(true)
		}
		for _, e := range events {
			if err := st.add(e); err != nil {
				return 0, err
			}
		}
	}
}
