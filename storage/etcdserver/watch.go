package etcdserver

import (
	"context"
	"errors"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fairlead.dev/storage"
)

type watchServer struct {
	*Server
	pb.UnimplementedWatchServer
}

// Watch serves one stream of watches: this goroutine owns it and sends, a second one receives.
func (s *watchServer) Watch(stream pb.Watch_WatchServer) error {
	w := newWatchStream(s.Server, stream)
	defer w.close()
	requests, received := make(chan *pb.WatchRequest), make(chan error, 1)
	go func() { received <- receive(stream, requests) }()
	err := w.run(requests, received)
	if errors.Is(err, context.Canceled) {
		return rpctypes.ErrGRPCWatchCanceled
	}
	return rpcError(err)
}

// receive ends when the client or the stream ends.
func receive(stream pb.Watch_WatchServer, to chan<- *pb.WatchRequest) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case to <- r:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// A watch is one of a stream. It belongs to the stream's goroutine.
type watch struct {
	id     int64
	cursor storage.Cursor
	// done ends the goroutine that relays the bell, if there is one.
	done     chan struct{}
	noPut    bool
	noDelete bool
	prev     bool
	fragment bool
	// progress: the client requested progress notifications; quiet: no message was sent since the
	// last one.
	progress, quiet bool
	// rung: the watch is among the stream's rung watches, and guarded by them.
	rung bool
}

// Reasons that etcd gives for refusing a watch.
const (
	reasonDuplicateID = "mvcc: duplicate watch ID provided on the WatchStream"
	reasonEmptyRange  = "mvcc: watcher range is empty"
)

// noWatch is the ID of an answer about no watch.
const noWatch = -1

// create makes a watch and answers the client.
func (w *watchStream) create(r *pb.WatchCreateRequest) error {
	key, end := string(r.Key), string(r.RangeEnd)
	if key == "" {
		key = "\x00"
	}
	n := &watch{
		id: r.WatchId, prev: r.PrevKv, fragment: r.Fragment, progress: r.ProgressNotify, quiet: true,
	}
	for _, f := range r.Filters {
		n.noPut = n.noPut || f == pb.WatchCreateRequest_NOPUT
		n.noDelete = n.noDelete || f == pb.WatchCreateRequest_NODELETE
	}
	switch {
	case r.StartRevision < 0:
		return w.refuse(rpctypes.ErrCompacted.Error())
	case end != "" && end != storage.NoEnd && key >= end:
		return w.refuse(reasonEmptyRange)
	case n.id == 0:
		n.id = w.freeID()
	case n.id == noWatch || w.watches[n.id] != nil:
		return w.refuse(reasonDuplicateID)
	}
	after := storage.Revision(0)
	if r.StartRevision > 0 {
		after = max(1, storage.Revision(r.StartRevision)-1) // revision 1 has no events
	}
	var err error
	n.cursor, err = w.store.Watch(storage.WatchRequest{Start: key, End: end, After: after, Prev: r.PrevKv})
	lost := errors.Is(err, storage.ErrCompacted)
	if err != nil && !lost {
		return err
	}
	created := &pb.WatchResponse{Header: header(w.store.Revision()), WatchId: n.id, Created: true}
	if err := w.stream.Send(created); err != nil {
		return err
	}
	if lost {
		return w.sendCompacted(n.id)
	}
	w.watches[n.id] = n
	w.relayBell(n)
	return nil
}

func (w *watchStream) freeID() int64 {
	for w.watches[w.nextID] != nil {
		w.nextID++
	}
	w.nextID++
	return w.nextID - 1
}

func (w *watchStream) refuse(reason string) error {
	return w.stream.Send(&pb.WatchResponse{
		Header: header(w.store.Revision()), WatchId: noWatch, Created: true, Canceled: true, CancelReason: reason,
	})
}

// sendCompacted tells the client that the next events of a watch are compacted.
func (w *watchStream) sendCompacted(id int64) error {
	return w.stream.Send(&pb.WatchResponse{
		Header: header(w.store.Revision()), WatchId: id, Canceled: true, CompactRevision: int64(w.store.Compacted()),
	})
}

func (w *watchStream) cancel(id int64) error {
	n := w.watches[id]
	if n == nil {
		return nil
	}
	w.remove(n)
	return w.stream.Send(&pb.WatchResponse{Header: header(w.store.Revision()), WatchId: id, Canceled: true})
}

func (w *watchStream) remove(n *watch) {
	delete(w.watches, n.id)
	if n.done != nil {
		close(n.done)
	}
	n.cursor.Close()
}
