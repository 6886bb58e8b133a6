package client

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Recorder writes core/v1 Events about objects. Writing is asynchronous and best
// effort: the queue is bounded, repeats raise the count of one Event, many different
// messages for one reason fold into one, and an object that has too much to tell is
// cut short. It is safe for concurrent use.
type Recorder struct {
	*recording
	source corev1.EventSource
}

// recording is what the recorders of one NewRecorder share.
type recording struct {
	events  Resource[*corev1.Event]
	queue   chan *corev1.Event
	dropped atomic.Int64
	cancel  context.CancelFunc
	close   sync.Once
	closing chan struct{}
	done    chan struct{}
	memory  correlator // of the goroutine run
}

const (
	recorderQueue = 8192
	recorderRests = 4               // times as long as a write took, see rest
	recorderFlush = 2 * time.Second // what Close may take
)

// NewRecorder returns a recorder that writes as component, and starts its goroutine,
// which Close ends.
func NewRecorder(c *Client, component string) *Recorder {
	ctx, cancel := context.WithCancel(context.Background())
	r := &recording{
		cancel:  cancel,
		events:  For[*corev1.Event](c),
		queue:   make(chan *corev1.Event, recorderQueue),
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

// Event tells that something happened to obj. eventType is corev1.EventTypeNormal or
// corev1.EventTypeWarning, reason a word in CamelCase, and the message is formatted as
// by fmt. It never blocks: when the queue is full the event is dropped.
func (r *Recorder) Event(obj Object, eventType, reason, messageFmt string, args ...any) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Kind == "" {
		gvks, _, err := r.events.c.scheme.ObjectKinds(obj)
		if err != nil {
			r.dropped.Add(1)
			return
		}
		gvk = gvks[0]
	}
	message := messageFmt
	if len(args) > 0 {
		message = fmt.Sprintf(messageFmt, args...)
	}
	if len(message) > 1024 {
		message = message[:1024]
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	now := metav1.Now()
	ns := or(obj.GetNamespace(), metav1.NamespaceDefault)
	ev := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns,
			Name:      fmt.Sprintf("%s.%x", obj.GetName(), now.UnixNano()),
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: apiVersion, Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(),
			UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(),
		},
		Type: eventType, Reason: reason, Message: message,
		Source: r.source, ReportingController: r.source.Component, ReportingInstance: r.source.Host,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	select {
	case <-r.closing:
		return
	default:
	}
	select {
	case r.queue <- ev:
	default:
		r.dropped.Add(1)
	}
}

// Dropped returns how many events were lost: to a full queue, to an unknown kind or to
// a server that did not take them. Those cut short for being too many do not count.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Close writes what is queued, for two seconds at most, and ends the recorder. Events
// recorded later are dropped.
func (r *Recorder) Close() {
	r.close.Do(func() { close(r.closing) })
	defer time.AfterFunc(recorderFlush, r.cancel).Stop()
	<-r.done
}

func (r *recording) run(ctx context.Context) {
	defer close(r.done)
	defer r.cancel()
	for {
		select {
		case ev := <-r.queue:
			start := time.Now()
			r.write(ctx, ev)
			r.rest(recorderRests * time.Since(start))
		case <-r.closing:
			for {
				select {
				case ev := <-r.queue:
					r.write(ctx, ev)
				default:
					return
				}
			}
		}
	}
}

// rest lets the work that events tell about go first: in a burst of them the server has
// better to do, and a write that took long says that it is busy. What gathers meanwhile
// may fill a quarter of the queue.
func (r *recording) rest(d time.Duration) {
	if n := len(r.queue); n == 0 || n > recorderQueue/4 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.closing:
	}
}

func (r *recording) write(ctx context.Context, ev *corev1.Event) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	rec := r.memory.observe(ev)
	if rec == nil {
		return
	}
	events := r.events.Namespace(ev.Namespace)
	if rec.name != "" {
		_, err := events.Patch(ctx, rec.name, MergePatch(map[string]any{
			"count": rec.count, "lastTimestamp": ev.LastTimestamp, "message": ev.Message,
		}))
		if !apierrors.IsNotFound(err) {
			if err != nil {
				r.dropped.Add(1)
			}
			return
		}
		rec.count = 1 // the old one has expired
	}
	if _, err := events.Create(ctx, ev); err != nil {
		r.dropped.Add(1)
		return
	}
	rec.name = ev.Name
}
