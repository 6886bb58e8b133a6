package watch

import (
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Stream is an open watch: a source of events and a representation. It belongs to the one that
// serves it, a goroutine or the connection that it has been handed over to.
type Stream struct {
	s *Streams
	f *represent.Representation
	// first is the rest of the state that the watch begins with; nil when all of it has been
	// sent.
	first *Initial
	// headed: a table's columns have been sent.
	headed bool
	// from is the watcher; nil if the watch could not begin. src is it as a source, with its
	// decorators. left are events that there was no room for.
	from *watchcache.Watcher
	src  source
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
	// push writes to the client; nil once the stream has been handed over. Guarded by
	// Streams.mu. done is then called at the stream's end.
	push *push
	done func()
	sent *metrics.WatchCounters
	// fence, faults and trace are those of src, nil if it has none.
	fence  *fence
	faults *watchFaults
	trace  *watchTrace
}

// next appends the frames that are due to dst, about limit bytes of them, and reports whether
// there are more at once. With an error they are the last.
func (st *Stream) next(dst []byte, limit int) (_ []byte, more bool, err error) {
	if st.ended.Load() {
		return dst, false, io.EOF
	}
	ready, err := st.src.begin()
	if err != nil {
		return dst, false, err
	}
	var now time.Time
	defer func() { st.src.end(now) }()
	var progress storage.Revision
	if ready {
		dst, progress, more, err = st.appendPending(dst, limit)
		if err == errHeld {
			return dst, false, nil
		}
		if more || err != nil {
			return dst, more, err
		}
	}
	now = time.Now()
	return st.appendDue(dst, now, progress)
}

// appendPending appends the initial state and then events, until there are no more or about
// limit bytes have been appended. progress is the revision up to which the stream has shown
// all, 0 if that is not known.
func (st *Stream) appendPending(dst []byte, limit int) (_ []byte, progress storage.Revision, more bool, err error) {
	if st.first != nil {
		if dst, more, err = st.appendFirst(dst, limit); more || err != nil {
			return dst, 0, more, err
		}
	}
	full := len(dst) + limit
	for {
		if len(st.left) == 0 {
			st.left, progress, err = st.src.next()
			if err != nil || len(st.left) == 0 {
				st.left = nil
				dst, err = st.sourceEnded(dst, err)
				return dst, progress, false, err
			}
		}
		n := 0
		for n < len(st.left) && len(dst) < full {
			if dst, err = st.appendSelected(dst, st.left[n]); err != nil {
				return dst, 0, false, err
			}
			n++
		}
		st.src.shown(st.left[:n])
		st.left = st.left[n:]
		if len(dst) >= full {
			return dst, 0, true, nil
		}
	}
}

// sourceEnded appends the event that tells the client why the source has no more events, unless
// the kind is gone or defined anew, or they only wait.
func (st *Stream) sourceEnded(dst []byte, err error) ([]byte, error) {
	switch {
	case err == nil, err == errHeld, err == io.EOF:
		return dst, err
	case !errors.Is(err, storage.ErrClosed) || st.s.Holds(st.f.Endpoint):
		dst = st.appendFailure(dst, err)
	}
	return dst, io.EOF
}

// appendSelected appends the frame of an event, if the watch selects it.
func (st *Stream) appendSelected(dst []byte, e watchcache.Event) ([]byte, error) {
	if st.picking == nil {
		return st.appendEvent(dst, e)
	}
	shown, ok, err := st.picking.Event(st.f, e)
	switch {
	case err != nil:
		st.s.Log.Error("watch event cannot be selected", "key", e.Object.Key(), "error", err)
		return dst, err
	case !ok:
		return dst, nil
	}
	return st.appendEvent(dst, shown)
}

// appendDue appends a bookmark at progress if it is time for one, and ends the watch when its
// time is over.
func (st *Stream) appendDue(dst []byte, now time.Time, progress storage.Revision) (_ []byte, more bool, err error) {
	switch {
	case !now.Before(st.end):
		if st.every != 0 && progress != 0 {
			dst, _ = st.appendBookmark(dst, progress, false)
		}
		return dst, false, io.EOF
	case st.every != 0 && !now.Before(st.mark):
		if progress != 0 {
			if dst, err = st.appendBookmark(dst, progress, false); err != nil {
				return dst, false, err
			}
		}
		st.mark = now.Add(st.every)
		st.clock.Reset(min(st.every, st.end.Sub(now)))
	}
	return dst, false, nil
}

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

// appendFirst appends about limit bytes of the initial state, and reports whether there is
// more of it.
func (st *Stream) appendFirst(dst []byte, limit int) (_ []byte, more bool, err error) {
	full := len(dst) + limit
	for o := st.first.walk.Next(); o != nil; o = st.first.walk.Next() {
		if st.picking != nil && st.picking.Objects[o.Key()] == nil {
			continue
		}
		dst, err = st.appendEvent(dst, watchcache.Event{Type: watch.Added, Object: o, Revision: o.Revision()})
		if err != nil {
			return dst, false, err
		}
		if len(dst) >= full {
			return dst, true, nil
		}
	}
	if st.first.bookmark {
		dst, err = st.appendBookmark(dst, st.first.revision, true)
	}
	st.first = nil
	return dst, false, err
}

// appendEvent appends the frame of one event.
func (st *Stream) appendEvent(dst []byte, e watchcache.Event) ([]byte, error) {
	at := len(dst)
	dst = st.open(dst, e.Type, e.Revision)
	dst, err := st.f.AppendEventElement(dst, e)
	if err != nil {
		st.s.Log.Error("watch event cannot be encoded", "key", e.Object.Key(), "error", err)
		return dst[:at], err
	}
	dst = st.finish(dst, at, e.Type)
	st.sent.Events.Inc()
	st.sent.Sizes.Observe(float64(len(dst) - at))
	return dst, nil
}

// appendBookmark appends a bookmark. initialEnd marks the one at the end of the initial state.
func (st *Stream) appendBookmark(dst []byte, rev storage.Revision, initialEnd bool) ([]byte, error) {
	obj, err := st.f.Endpoint.NewObject()
	if err != nil {
		return dst, err
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return dst, err
	}
	m.SetResourceVersion(rev.String())
	if initialEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	element, err := st.f.Encode(obj)
	if err != nil {
		return dst, err
	}
	at := len(dst)
	dst = st.open(dst, watch.Bookmark, rev)
	return st.finish(append(dst, element...), at, watch.Bookmark), nil
}

// appendFailure appends the ERROR event that tells the client why the watch ends.
func (st *Stream) appendFailure(dst []byte, err error) []byte {
	status := apistatus.Of(err)
	switch st.f.Media {
	case serializer.CBOR:
		text, err := serializer.MarshalCBOR(status)
		if err != nil {
			return dst
		}
		return append(represent.AppendCBORFrameHead(dst, watch.Error), text...)
	case serializer.Protobuf:
		raw, err := status.Marshal()
		if err != nil {
			return dst
		}
		gvk := schema.GroupVersionKind{Version: "v1", Kind: "Status"}
		return represent.AppendProtoFrame(dst, watch.Error, serializer.AppendEnvelope(nil, gvk, raw))
	}
	text, err := json.Marshal(runtime.Object(status))
	if err != nil {
		return dst
	}
	dst = append(dst, `{"type":"ERROR","object":`...)
	return append(append(dst, text...), "}\n"...)
}

// open begins a frame, up to the element.
func (st *Stream) open(b []byte, t watch.EventType, rev storage.Revision) []byte {
	switch st.f.Media {
	case serializer.Protobuf:
		return b
	case serializer.CBOR:
		return represent.AppendCBORFrameHead(b, t)
	}
	b = append(append(append(b, `{"type":"`...), t...), `","object":`...)
	if st.f.Shape == request.AsTable {
		b = st.f.AppendTableHead(b, represent.ListMeta{ResourceVersion: rev.String()}, !st.headed)
		st.headed = true
	}
	return b
}

// finish ends the frame that begins at index at.
func (st *Stream) finish(b []byte, at int, t watch.EventType) []byte {
	switch {
	case st.f.Media == serializer.Protobuf:
		return represent.WrapProtoFrame(b, at, t, st.f.Kind())
	case st.f.Media == serializer.CBOR:
		return st.f.AddType(b, at+len(represent.AppendCBORFrameHead(nil, t)))
	case st.f.Shape == request.AsTable:
		return append(b, "]}}\n"...)
	}
	return append(b, "}\n"...)
}
