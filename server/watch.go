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

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// watchVerb streams the events of the selected objects. An error in the request is its
// response. A failure to serve a valid request, such as a history that has been compacted, is
// the first event of the stream.
func watchVerb(c *call) error {
	opts, err := c.listOptions()
	if err != nil {
		return err
	}
	sel, pick, err := c.selection(opts)
	if err != nil {
		return err
	}
	f, err := c.form()
	if err != nil {
		return err
	}
	if f.Shape == request.AsPartialList {
		f.Shape = request.AsPartial
	}
	var after storage.Revision
	if opts.ResourceVersion != "" {
		if after, err = parseRevision(opts.ResourceVersion); err != nil {
			return apistatus.New(http.StatusInternalServerError, "", err.Error())
		}
	}
	if f.Media == serializer.YAML { // which has no frames
		return c.s.offer.NotAcceptable(c.req.Header.Get("Accept"), true)
	}
	from, snap, failed := c.startWatch(sel, after, opts)
	if c.redefined() {
		if from != nil {
			from.Close()
		}
		return errRedefined
	}
	if failed != nil {
		from = nil // the watch does not start
		failed = c.tooOld(after, failed)
	}
	var picking *represent.Selected
	if failed == nil && pick != nil {
		picking, failed = represent.NewSelected(c.ctx, f, pick, snap, after, sel)
		failed = c.tooOld(after, failed)
	}
	var first *watch.Initial
	if initial := opts.SendInitialEvents; failed == nil && initial != nil && *initial {
		first, failed = watch.NewInitial(snap, sel, opts)
	}
	if failed == nil && first != nil && pick == nil && c.ep.AsksWebhook {
		var objects []*watchcache.Object
		if objects, failed = collect(snap.List(sel, "", 0)); failed == nil {
			failed = f.Preconvert(c.ctx, objects)
		}
		f.Preconverted = nil // they are kept as the objects' form
	}
	if failed != nil && from != nil {
		from.Close()
		from = nil
	}
	f.Context = context.WithoutCancel(c.ctx)
	begin := func(ctx context.Context, w http.ResponseWriter) *watch.Stream {
		return c.s.streams.Open(watch.Opening{
			Context: ctx, Writer: w, Representation: f, From: from, Failed: failed, Initial: first, Selected: picking,
			Timeout: c.watchTimeout(opts), Bookmarks: opts.AllowWatchBookmarks, Counters: c.s.metrics.Watch(c.ep), Client: c.traceStream,
		})
	}
	if watch.WantsWebSocket(c.req) {
		watch.Upgrade(c.ctx, c.w, c.req, f.Media, func(ctx context.Context, w http.ResponseWriter) { begin(ctx, w).Run() })
		return nil
	}
	c.tail = begin(c.ctx, c.w)
	return nil
}

// tooOld adds to the error of a compacted start how far back the history goes.
func (c *call) tooOld(after storage.Revision, err error) error {
	if !errors.Is(err, storage.ErrCompacted) {
		return err
	}
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", after, c.s.cfg.Store.Compacted()))
}

// startWatch opens the watcher. If the watch begins with or at the present state, it also
// returns that snapshot.
func (c *call) startWatch(sel watchcache.Selection, after storage.Revision, opts *internalversion.ListOptions) (*watchcache.Watcher, *watchcache.Snapshot, error) {
	initial := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	if after != 0 && !initial {
		w, err := c.ep.Cache.Watch(c.ctx, sel, after)
		return w, nil, err
	}
	at := watchcache.ReadAt{Match: watchcache.Latest}
	switch {
	case after != 0:
		at = watchcache.ReadAt{Match: watchcache.NotOlder, Revision: after}
	case opts.ResourceVersion == "0":
		at.Match = watchcache.Any
	}
	snap, err := c.ep.Cache.Snapshot(c.ctx, at)
	if err != nil {
		return nil, nil, err
	}
	w, err := c.ep.Cache.WatchFrom(c.ctx, snap, sel)
	return w, snap, err
}

// watchTimeout returns the time that the watch runs.
func (c *call) watchTimeout(opts *internalversion.ListOptions) time.Duration {
	if opts.TimeoutSeconds != nil && *opts.TimeoutSeconds != 0 { // less than 0: it ends as it begins
		return time.Duration(*opts.TimeoutSeconds) * time.Second
	}
	return time.Duration(float64(c.s.cfg.WatchTimeout) * (1 + rand.Float64()))
}
