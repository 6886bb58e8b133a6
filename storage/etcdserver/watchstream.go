package etcdserver

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/mem"

	"fairlead.dev/storage"
)

// A watchStream holds all watches of one stream. Its goroutine handles the client's requests, and
// the watches whose bells have rung, one after the other.
type watchStream struct {
	*Server
	stream  pb.Watch_WatchServer
	ctx     context.Context
	watches map[int64]*watch
	nextID  int64
	recent  encodingCache

	// rung are the watches that may have events to send, each once.
	bell chan struct{}
	rung struct {
		sync.Mutex
		watches []*watch
	}
}

func newWatchStream(s *Server, stream pb.Watch_WatchServer) *watchStream {
	return &watchStream{
		Server: s, stream: stream, ctx: stream.Context(),
		watches: map[int64]*watch{}, bell: make(chan struct{}, 1),
	}
}

// relayBell relays the bell of a watch to the stream, by a goroutine if the store's cursors have no
// callback.
func (w *watchStream) relayBell(n *watch) {
	if r, ok := n.cursor.(storage.Ringer); ok {
		r.RingTo(func() { w.ring(n) })
		return
	}
	bell, done := n.cursor.Bell(), make(chan struct{})
	n.done = done
	go func() {
		for {
			select {
			case <-bell:
				w.ring(n)
			case <-done:
				return
			}
		}
	}()
}

func (w *watchStream) ring(n *watch) {
	w.rung.Lock()
	if !n.rung {
		n.rung = true
		w.rung.watches = append(w.rung.watches, n)
	}
	w.rung.Unlock()
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

func (w *watchStream) run(requests <-chan *pb.WatchRequest, received <-chan error) error {
	// Streams that began together are not notified together.
	pause := w.config.ProgressInterval
	pause += time.Duration(rand.Int64N(int64(pause)/10 + 1))
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-w.ctx.Done():
			return w.ctx.Err()
		case err := <-received:
			return err
		case r := <-requests:
			err = w.request(r)
		case <-w.bell:
			err = w.drain()
		case <-ticker.C:
			err = w.notify()
		}
		if err != nil {
			return err
		}
	}
}

func (w *watchStream) request(r *pb.WatchRequest) error {
	switch r := r.RequestUnion.(type) {
	case *pb.WatchRequest_CreateRequest:
		if r.CreateRequest != nil {
			return w.create(r.CreateRequest)
		}
	case *pb.WatchRequest_CancelRequest:
		if r.CancelRequest != nil {
			return w.cancel(r.CancelRequest.WatchId)
		}
	case *pb.WatchRequest_ProgressRequest:
		return w.progress()
	}
	return nil
}

// drain sends the events of the watches that have rung.
func (w *watchStream) drain() error {
	w.rung.Lock()
	rung := w.rung.watches
	w.rung.watches = nil
	for _, n := range rung {
		n.rung = false
	}
	w.rung.Unlock()
	for _, n := range rung {
		if w.watches[n.id] != n {
			continue
		}
		if _, _, err := w.sendBatch(n); err != nil {
			return err
		}
	}
	return nil
}

// sendBatch sends one batch of a watch. It returns the watch's progress, and whether the watch still
// lives.
func (w *watchStream) sendBatch(n *watch) (storage.Revision, bool, error) {
	b, err := n.cursor.Next()
	if errors.Is(err, storage.ErrCompacted) {
		w.remove(n)
		return 0, false, w.sendCompacted(n.id)
	}
	if err != nil {
		return 0, false, err
	}
	if err := w.send(n, b); err != nil {
		return 0, false, err
	}
	return b.Progress, true, nil
}

// progress answers the client that all watches of the stream are at the store's current revision,
// after bringing them there.
func (w *watchStream) progress() error {
	now := w.store.Revision()
	for _, n := range w.watches {
		for {
			at, lives, err := w.sendBatch(n)
			if err != nil {
				return err
			}
			if !lives || at >= now {
				break
			}
		}
	}
	return w.stream.Send(&pb.WatchResponse{Header: header(now), WatchId: noWatch})
}

// notify sends progress notifications to the watches that requested them and were quiet since the
// last one.
func (w *watchStream) notify() error {
	for _, n := range w.watches {
		if !n.progress {
			continue
		}
		quiet := n.quiet
		n.quiet = true
		if !quiet {
			continue
		}
		at, lives, err := w.sendBatch(n)
		if err != nil {
			return err
		}
		if lives && n.quiet && at <= w.store.Revision() {
			if err := w.stream.Send(&pb.WatchResponse{Header: header(at), WatchId: n.id}); err != nil {
				return err
			}
		}
	}
	return nil
}

// messageBytes is the approximate size of an answer, if its transactions allow.
const messageBytes = 1 << 20

// send sends a batch in messages of whole transactions.
func (w *watchStream) send(n *watch, b storage.Batch) error {
	var events mem.BufferSlice
	size := 0
	for i, e := range b.Events {
		if n.passesFilters(e) {
			out := w.recent.encode(e, n.prev)
			events = append(events, out)
			size += out.Len()
		}
		last := i+1 == len(b.Events)
		if !last && (size < messageBytes || b.Events[i+1].Revision() == e.Revision()) {
			continue
		}
		at := e.Revision()
		if last {
			at = b.Progress
		}
		if len(events) > 0 {
			if err := w.emit(n, at, events, size); err != nil {
				return err
			}
			n.quiet = false
		}
		events, size = nil, 0
	}
	return nil
}

// emit sends an answer, in fragments if it is too large and the client requested fragments.
func (w *watchStream) emit(n *watch, at storage.Revision, events mem.BufferSlice, size int) error {
	for len(events) > 0 {
		part := len(events)
		if n.fragment && size >= MaxRequestBytes {
			part = fragmentLength(events)
		}
		head := encodeHead(at, n.id, part < len(events))
		if err := w.stream.SendMsg(encoded{append(mem.BufferSlice{mem.SliceBuffer(head)}, events[:part]...)}); err != nil {
			return err
		}
		events = events[part:]
	}
	return nil
}

// fragmentLength is how many events go into one fragment: at least one.
func fragmentLength(events mem.BufferSlice) int {
	size := events[0].Len()
	n := 1
	for ; n < len(events) && size+events[n].Len() <= MaxRequestBytes; n++ {
		size += events[n].Len()
	}
	return n
}

// passesFilters reports whether the watch's filters let an event pass.
func (n *watch) passesFilters(e storage.Event) bool {
	return e.Type == storage.Put && !n.noPut || e.Type == storage.Delete && !n.noDelete
}

func (w *watchStream) close() {
	for _, n := range w.watches {
		w.remove(n)
	}
}
