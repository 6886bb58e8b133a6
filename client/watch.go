package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"fairlead.dev/internal/codec"
	"fairlead.dev/trace"

	"github.com/fxamacker/cbor/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is one change of one object. The Object of a Bookmark carries only a
// resourceVersion and perhaps annotations. There are no Error events: Next returns the
// error instead.
type Event[T Object] struct {
	Type   watch.EventType // Added, Modified, Deleted or Bookmark
	Object T               // of Deleted: the last state, with the revision of the deletion
}

// Watch is a stream of events in the order of their revisions. It is read by one goroutine,
// through Next or Events. Only the connection's buffer is read ahead, so a slow reader
// costs memory nowhere but at the server.
type Watch[T Object] struct {
	codec *objectCodec[T]
	ctx   context.Context
	stop  context.CancelFunc
	body  io.ReadCloser
	in    frames
	err   error // that ended it
	known func(uid types.UID, revision string) bool
	// read and decoded are when that happened to the last event, if trace is not nil.
	trace                 *trace.Log
	opened, read, decoded trace.Instant
}

// Watch opens a stream of the changes that the options select. It lives until Stop,
// the end of ctx, or until the server or the network ends it.
func (r Resource[T]) Watch(ctx context.Context, opts metav1.ListOptions) (*Watch[T], error) {
	path, err := r.path(ctx, r.ns)
	if err != nil {
		return nil, err
	}
	opts.Watch = true
	q, err := query(&opts)
	if err != nil {
		return nil, err
	}
	silence := time.Duration(-1)
	if opts.AllowWatchBookmarks { // the server speaks up each minute
		silence = r.c.rest.silence
	}
	wctx, stop := context.WithCancel(ctx)
	res, err := r.c.rest.stream(wctx, Request{Method: http.MethodGet, Path: path, Query: q, Accept: r.codec.acceptWatch}, silence)
	if err != nil {
		stop()
		return nil, err
	}
	w := &Watch[T]{codec: r.codec, trace: r.c.trace, opened: r.c.trace.Now(), ctx: ctx, stop: stop, body: res.Body}
	switch ct := res.Header.Get("Content-Type"); {
	case strings.HasPrefix(ct, ContentTypeProtobuf):
		w.in = &protoFrames{in: inbox{from: res.Body}}
	case strings.HasPrefix(ct, ContentTypeCBOR): // with -seq
		w.in = &cborFrames{in: cbor.NewDecoder(res.Body)}
	default:
		w.in = &jsonFrames{in: inbox{from: res.Body}}
	}
	return w, nil
}

// Next waits for the next event. After an error the watch is over, and every further Next
// returns the same error. The error is
//
//   - io.EOF when the server ends the watch normally;
//   - a *apierrors.StatusError when the server gives a reason (IsResourceExpired or IsGone
//     mean: list again);
//   - the network's error when the connection breaks, or ErrSilent;
//   - the context's error when ctx or the context of the watch ends. The end of ctx ends the
//     watch.
func (w *Watch[T]) Next(ctx context.Context) (Event[T], error) {
	var ev Event[T]
	if w.err != nil {
		return ev, w.err
	}
	if ctx != w.ctx && ctx.Done() != nil {
		defer context.AfterFunc(ctx, w.stop)()
	}
	ev, err := w.next()
	if err != nil {
		if e := ctx.Err(); e != nil {
			err = e
		} else if e := w.ctx.Err(); e != nil {
			err = e
		}
		w.err = err
		w.Stop()
	}
	return ev, err
}

func (w *Watch[T]) next() (ev Event[T], err error) {
	typ, raw, err := w.in.next()
	if err != nil {
		return ev, err
	}
	w.read = w.trace.Now()
	if typ == watch.Error {
		if st, ok := decodeStatus(raw); ok {
			return ev, refused(st)
		}
		return ev, apierrors.NewInternalError(errUnknownError)
	}
	ev.Type = typ
	if obj, ok := w.passed(raw); ok {
		ev.Object = obj
	} else {
		ev.Object, err = w.codec.decode(raw)
	}
	w.decoded = w.trace.Now()
	return ev, err
}

// SkipKnown sets a function that reports whether the reader has a version of an object
// already, for example because it wrote it. Such an event comes with only its object's
// metadata, as with MetadataOnly. Objects in other encodings than JSON, and objects that other readers share
// (Options.ShareObjects), are always decoded: another reader has the object or will use it.
// known is called by Next.
func (w *Watch[T]) SkipKnown(known func(uid types.UID, revision string) bool) { w.known = known }

// passed is the head of an object that is known.
func (w *Watch[T]) passed(raw []byte) (head T, ok bool) {
	if w.known == nil || w.codec.shared != nil {
		return head, false
	}
	h, ok := codec.IdentityOf(raw)
	if !ok || !w.known(types.UID(h.UID), h.ResourceVersion) {
		return head, false
	}
	return w.codec.headed(h), true
}

// More reports whether the next event has been read from the connection already, so that
// Next does not wait. A reader that collects events into batches ends a batch when it is
// false. It may be false although an event is there, if the encoding does not tell.
func (w *Watch[T]) More() bool { return w.err == nil && w.in.more() }

// Opened is the instant at which the server had answered, by the client's trace.
func (w *Watch[T]) Opened() trace.Instant { return w.opened }

// Stamps are the instants at which the last event was read and decoded, by the client's
// Trace; 0 without one.
func (w *Watch[T]) Stamps() (read, decoded trace.Instant) { return w.read, w.decoded }

// Events is Next as an iterator. It ends with the error that ended the watch, unless
// the loop is left before, and stops the watch.
func (w *Watch[T]) Events(ctx context.Context) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		defer w.Stop()
		for {
			ev, err := w.Next(ctx)
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Stop ends the watch and lets its connection go. A Next that is waiting returns.
func (w *Watch[T]) Stop() {
	w.stop()
	w.body.Close()
}
