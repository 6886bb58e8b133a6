package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Recorder writes Events about objects: Event those of core/v1, Act those of
// events.k8s.io/v1. It is safe for concurrent use.
//
// Writing is asynchronous and best effort. The queue is bounded. Events that the server
// rejects are dropped, and so are later events about objects of a namespace that the server
// has reported as terminating. While the server cannot be reached, a write is retried for
// two minutes. Repeated events raise the count of one Event.
//
// As with upstream's recorder of core/v1, the tenth different message for one reason within
// ten minutes and all after it are combined into one Event, and an object may have 25
// Events of each type written at once and then one every five minutes.
type Recorder struct {
	*recording
	source corev1.EventSource
}

// recording is the state that the recorders of one NewRecorder share.
type recording struct {
	c       *Client
	queue   toldQueue
	dropped atomic.Int64
	latest  atomic.Int64 // the latest time in the name of an Event, in nanoseconds
	cancel  context.CancelFunc
	close   sync.Once
	closing chan struct{}
	done    chan struct{}
	memory  correlator            // of the goroutine run
	leaving terminatingNamespaces // of the goroutine run
	series  map[seriesKey]*series // of the goroutine run
}

const (
	recorderFlush = 2 * time.Second // limit of Close
	// A write may take recorderPatience. One that the server did not answer is tried
	// recorderTries times, as upstream's, while the queue waits.
	recorderPatience = 10 * time.Second
	recorderTries    = 12
	recorderPause    = 10 * time.Second // the longest between two tries
	// recorderNamesakes is the largest number of Events with one object and time in their names.
	recorderNamesakes = 10
)

// NewRecorder returns a recorder that writes as component, and starts its goroutine,
// which Close ends.
func NewRecorder(c *Client, component string) *Recorder {
	ctx, cancel := context.WithCancel(context.Background())
	r := &recording{
		cancel:  cancel,
		c:       c,
		queue:   toldQueue{bell: make(chan struct{}, 1)},
		series:  map[seriesKey]*series{},
		leaving: terminatingNamespaces{},
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go r.run(ctx)
	return &Recorder{recording: r, source: corev1.EventSource{Component: component}}
}

// From returns a recorder with the same queue that writes as another component, on
// host if that is not empty. Closing either closes both.
func (r *Recorder) From(component, host string) *Recorder {
	return &Recorder{recording: r.recording, source: corev1.EventSource{Component: component, Host: host}}
}

// Event records that something happened to obj. eventType is corev1.EventTypeNormal or
// corev1.EventTypeWarning, reason a word in CamelCase, and the message is formatted as by
// fmt. It never blocks: when the queue is full the event is dropped.
func (r *Recorder) Event(obj Object, eventType, reason, messageFmt string, args ...any) {
	about, ok := r.reference(obj)
	if !ok {
		r.dropped.Add(1)
		return
	}
	now := metav1.Now()
	r.enqueue(toldEvent{created: obj.GetCreationTimestamp().Time, ev: &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cmp.Or(obj.GetNamespace(), metav1.NamespaceDefault),
			Name:      r.name(obj, now.Time),
		},
		InvolvedObject: about,
		Type:           eventType, Reason: reason, Message: format(messageFmt, args),
		Source: r.source, ReportingController: r.source.Component, ReportingInstance: r.source.Host,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}})
}

// reference names an object; false if its kind is not known.
func (r *Recorder) reference(obj Object) (corev1.ObjectReference, bool) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Kind == "" {
		gvks, _, err := r.c.scheme.ObjectKinds(obj)
		if err != nil {
			return corev1.ObjectReference{}, false
		}
		gvk = gvks[0]
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	return corev1.ObjectReference{
		APIVersion: apiVersion, Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(),
		UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(),
	}, true
}

// format makes a message, of as many bytes as the server takes.
func format(text string, args []any) string {
	if len(args) > 0 {
		text = fmt.Sprintf(text, args...)
	}
	return cut(text, 1024)
}

// cut returns no more than n bytes of s, and no half of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// name returns a name for an Event about an object: that of the object, and the time, or a later one if the recorder has given
// that to an Event before, because the clock stands still.
func (r *recording) name(of Object, now time.Time) string {
	for {
		last := r.latest.Load()
		at := max(now.UnixNano(), last+1)
		if r.latest.CompareAndSwap(last, at) {
			return strings.TrimRight(cut(of.GetName(), 230), "-.") + fmt.Sprintf(".%x", at)
		}
	}
}

func (r *Recorder) enqueue(x told) {
	select {
	case <-r.closing:
		return
	default:
	}
	if !r.queue.add(x) {
		r.dropped.Add(1)
	}
}

// Dropped returns how many events were lost: to a full queue, to an unknown kind or to
// a server that did not take them. Those cut short for being too many do not count.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Close writes the queued events, for two seconds at most, and ends the recorder. Events
// recorded later are dropped.
func (r *Recorder) Close() {
	r.close.Do(func() { close(r.closing) })
	defer time.AfterFunc(recorderFlush, r.cancel).Stop()
	<-r.done
}

func (r *recording) run(ctx context.Context) {
	defer close(r.done)
	defer r.cancel()
	tick := time.NewTicker(seriesTick)
	defer tick.Stop()
	for {
		select {
		case <-r.queue.bell:
			if x := r.queue.next(); x != nil {
				x.write(ctx, r)
			}
		case now := <-tick.C:
			r.endSeries(ctx, now, false)
			r.leaving.forget(now)
		case <-r.closing:
			for x := r.queue.next(); x != nil; x = r.queue.next() {
				x.write(ctx, r)
			}
			r.endSeries(ctx, time.Now(), true)
			return
		}
	}
}

// toldEvent is an Event of core/v1 in the queue.
type toldEvent struct {
	created time.Time // when its object was; zero if that has not been written
	ev      *corev1.Event
}

func (e toldEvent) write(ctx context.Context, r *recording) {
	ev := e.ev
	rec := r.memory.observe(ev)
	if rec == nil {
		return
	}
	events := For[*corev1.Event](r.c).MetadataOnly().Namespace(ev.Namespace)
	if rec.name != "" {
		err := r.send(ctx, func(ctx context.Context) error {
			_, err := events.Patch(ctx, rec.name, MergePatch(map[string]any{
				"count": rec.count, "lastTimestamp": ev.LastTimestamp, "message": ev.Message,
			}))
			return err
		})
		if !isNotFound(err) {
			if err != nil {
				r.dropped.Add(1)
			}
			return
		}
		rec.count = 1 // the old one has expired
	}
	if r.leaving.expects(ev.Namespace, e.created) {
		r.dropped.Add(1)
		return
	}
	err := r.create(ctx, &ev.ObjectMeta, func(ctx context.Context) error {
		_, err := events.Create(ctx, ev)
		return err
	})
	if err != nil {
		r.leaving.note(ev.Namespace, e.created, err, time.Now())
		r.dropped.Add(1)
		return
	}
	rec.name = ev.Name
}

// create creates an Event by write. If another recorder's has the name, the Event gets the next one.
func (r *recording) create(ctx context.Context, ev *metav1.ObjectMeta, write func(context.Context) error) error {
	name, err := ev.Name, r.send(ctx, write)
	for n := 2; n <= recorderNamesakes && apierrors.IsAlreadyExists(err); n++ {
		ev.Name = fmt.Sprintf("%s-%d", name, n)
		err = r.send(ctx, write)
	}
	return err
}

// send makes one write, and makes it again while the server does not answer.
func (r *recording) send(ctx context.Context, write func(context.Context) error) error {
	for n := 1; ; n++ {
		once, cancel := context.WithTimeout(ctx, recorderPatience)
		err := write(once)
		cancel()
		var answer apierrors.APIStatus
		switch {
		case n > 1 && apierrors.IsAlreadyExists(err): // a try before came there
			return nil
		case err == nil, errors.As(err, &answer), meta.IsNoMatchError(err), n == recorderTries, ctx.Err() != nil:
			return err
		}
		select {
		case <-time.After(min(time.Second<<(n-1), recorderPause)):
		case <-r.closing:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
