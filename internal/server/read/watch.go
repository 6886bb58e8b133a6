package read

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
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/pressure"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// Watches serves the verb watch.
type Watches struct {
	Streams *watch.Streams
	Metrics *metrics.Metrics
	// Timeout is the minimum time that a watch without timeoutSeconds runs; each gets up to
	// twice that, at random.
	Timeout time.Duration
}

// Serve streams the events of the selected objects. An error in the request is its
// response. A failure to serve a valid request, such as a history that has been compacted, is
// the first event of the stream.
func (v *Watches) Serve(c *call.Call) error {
	opts, err := c.ListOptions()
	if err != nil {
		return err
	}
	sel, pick, err := c.Selection(opts)
	if err != nil {
		return err
	}
	f, err := c.Representation()
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
		return c.Negotiator.NotAcceptable(c.HTTP.Header.Get("Accept"), true)
	}
	if err := c.ReserveList(pressure.Watch, pick != nil || c.Endpoint.AsksWebhook); err != nil {
		return err
	}
	from, snap, failed := start(c, sel, after, opts)
	if c.Outdated() {
		if from != nil {
			from.Close()
		}
		return endpoint.ErrRedefined
	}
	if failed != nil {
		from = nil // the watch does not start
		failed = tooOld(c, after, failed)
	}
	var picking *represent.Selected
	if failed == nil && pick != nil {
		picking, failed = represent.NewSelected(c.Context, f, pick, snap, after, sel)
		failed = tooOld(c, after, failed)
	}
	var first *watch.Initial
	if initial := opts.SendInitialEvents; failed == nil && initial != nil && *initial {
		first, failed = watch.NewInitial(snap, sel, opts)
	}
	if failed == nil && first != nil && pick == nil && c.Endpoint.AsksWebhook {
		var objects []*watchcache.Object
		if objects, failed = Collect(snap.List(sel, "", 0)); failed == nil {
			failed = f.Preconvert(c.Context, objects)
		}
		f.Preconverted = nil // they are kept as the objects' form
	}
	if failed != nil && from != nil {
		from.Close()
		from = nil
	}
	f.Context = context.WithoutCancel(c.Context)
	counters := v.Metrics.Watch(c.Endpoint, c.Scope())
	seat, room, start := c.Seat, c.Room, c.Start // without the call, which need not live as long
	begun := func() {
		seat.Leave()
		room.Leave()
	}
	if first != nil {
		began := begun
		begun = func() {
			began()
			counters.Lists.Observe(int64(time.Since(start)))
		}
	}
	begin := func(ctx context.Context, w http.ResponseWriter) *watch.Stream {
		return v.Streams.Open(watch.Opening{
			Context: ctx, Writer: w, Representation: f, From: from, Failed: failed, Initial: first, Selected: picking,
			Timeout: v.timeout(opts), Bookmarks: opts.AllowWatchBookmarks, Counters: counters, Begun: begun, Client: func(id uint64) *trace.Stream { return traced(c, id) },
		})
	}
	if watch.WantsWebSocket(c.HTTP) {
		watch.Upgrade(c.Context, c.Writer, c.HTTP, f.Media, func(ctx context.Context, w http.ResponseWriter) { begin(ctx, w).Run() })
		return nil
	}
	c.Tail = begin(c.Context, c.Writer)
	return nil
}

// tooOld adds to the error of a compacted start how far back the history goes.
func tooOld(c *call.Call, after storage.Revision, err error) error {
	if !errors.Is(err, storage.ErrCompacted) {
		return err
	}
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", after, c.Endpoint.Shard.Store.Compacted()))
}

// start opens the watcher. If the watch begins with or at the present state, it also
// returns that snapshot.
func start(c *call.Call, sel watchcache.Selection, after storage.Revision, opts *internalversion.ListOptions) (*watchcache.Watcher, *watchcache.Snapshot, error) {
	initial := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	if after != 0 && !initial {
		w, err := c.Endpoint.Cache.Watch(c.Context, sel, after)
		return w, nil, err
	}
	at := watchcache.ReadAt{Match: watchcache.Request}
	switch {
	case after != 0:
		at = watchcache.ReadAt{Match: watchcache.NotOlder, Revision: after}
	case opts.ResourceVersion == "0":
		at.Match = watchcache.Any
	}
	snap, err := c.Endpoint.Cache.Snapshot(c.Context, at)
	if err != nil {
		return nil, nil, err
	}
	w, err := c.Endpoint.Cache.WatchFrom(c.Context, snap, sel)
	return w, snap, err
}

// timeout returns the time that the watch runs.
func (v *Watches) timeout(opts *internalversion.ListOptions) time.Duration {
	if opts.TimeoutSeconds != nil && *opts.TimeoutSeconds != 0 { // less than 0: it ends as it begins
		return time.Duration(*opts.TimeoutSeconds) * time.Second
	}
	return time.Duration(float64(v.Timeout) * (1 + rand.Float64()))
}

// traced describes the watch that the call opens.
func traced(c *call.Call, id uint64) *trace.Stream {
	return &trace.Stream{
		ID: id, User: c.User.Name, Agent: c.Agent(),
		Resource: c.Endpoint.ServedGR.String(), Namespace: c.Namespace(), Name: c.Info.Name,
		Labels: c.Query.Get("labelSelector"), Fields: c.Query.Get("fieldSelector"),
		Opened: time.Now(),
	}
}
