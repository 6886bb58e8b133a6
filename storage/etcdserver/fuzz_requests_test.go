package etcdserver

import (
	"context"
	"io"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

func encode(f *testing.F, m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

func fuzzed(f *testing.F) *Server {
	store, err := local.Open("", local.Options{InMemory: true, History: time.Hour})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { store.Close() })
	for _, key := range []string{"a", "b", "c", "a"} {
		if _, err := store.Commit(context.Background(), storage.Txn{Then: []storage.Op{{Key: key, Value: []byte(key)}}}); err != nil {
			f.Fatal(err)
		}
	}
	return New(Config{Store: store})
}

// call answers b as the request that kind names.
func call[R any, P interface {
	*R
	proto.Message
}, A proto.Message](ctx context.Context, b []byte, method func(context.Context, P) (A, error)) (proto.Message, bool, error) {
	r := P(new(R))
	if proto.Unmarshal(b, r) != nil {
		return nil, false, nil
	}
	a, err := method(ctx, r)
	return a, true, err
}

// FuzzRequests sends arbitrary requests of KV, Lease or Maintenance: each is refused, or answered
// with an encodable message whose revision the store has reached.
func FuzzRequests(f *testing.F) {
	s := fuzzed(f)
	kv, lease, m := &kvServer{Server: s}, &leaseServer{Server: s}, &maintenanceServer{Server: s}
	for kind, r := range []proto.Message{
		&pb.RangeRequest{Key: []byte("a"), RangeEnd: []byte{0}, Limit: 2, Revision: 3, SortOrder: pb.RangeRequest_DESCEND, SortTarget: pb.RangeRequest_VALUE, MinModRevision: 2},
		&pb.PutRequest{Key: []byte("a"), Value: []byte("2"), PrevKv: true, Lease: 7},
		&pb.DeleteRangeRequest{Key: []byte("a"), RangeEnd: []byte("b"), PrevKv: true},
		&pb.CompactionRequest{Revision: 2, Physical: true},
		&pb.LeaseGrantRequest{ID: 7, TTL: 100},
		&pb.LeaseRevokeRequest{ID: 7},
		&pb.LeaseTimeToLiveRequest{ID: 7, Keys: true},
		&pb.HashKVRequest{Revision: 3},
		&pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, Alarm: pb.AlarmType_CORRUPT},
	} {
		f.Add(uint8(kind), encode(f, r))
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		var a proto.Message
		var asked bool
		var err error
		switch ctx := t.Context(); kind % 9 {
		case 0:
			a, asked, err = call(ctx, b, kv.Range)
		case 1:
			a, asked, err = call(ctx, b, kv.Put)
		case 2:
			a, asked, err = call(ctx, b, kv.DeleteRange)
		case 3:
			a, asked, err = call(ctx, b, kv.Compact)
		case 4:
			a, asked, err = call(ctx, b, lease.LeaseGrant)
		case 5:
			a, asked, err = call(ctx, b, lease.LeaseRevoke)
		case 6:
			a, asked, err = call(ctx, b, lease.LeaseTimeToLive)
		case 7:
			a, asked, err = call(ctx, b, m.HashKV)
		case 8:
			a, asked, err = call(ctx, b, m.Alarm)
		}
		if !asked || err != nil {
			return
		}
		if _, err := proto.Marshal(a); err != nil {
			t.Errorf("the answer cannot be encoded: %v", err)
		}
		if at := a.(interface{ GetHeader() *pb.ResponseHeader }).GetHeader().GetRevision(); at < 1 || at > int64(s.store.Revision()) {
			t.Errorf("revision %d, the store is at %d", at, s.store.Revision())
		}
	})
}

// A script is a stream whose client sends given messages and then no more.
type script struct {
	grpc.ServerStream
	t        *testing.T
	requests []*pb.WatchRequest
	seen     map[int64]int64
}

func (s *script) Context() context.Context { return s.t.Context() }

func (s *script) Recv() (*pb.WatchRequest, error) {
	if len(s.requests) == 0 {
		return nil, io.EOF
	}
	r := s.requests[0]
	s.requests = s.requests[1:]
	return r, nil
}

func (s *script) Send(r *pb.WatchResponse) error { return s.SendMsg(r) }

// SendMsg checks that the events of a watch come in order and each once.
func (s *script) SendMsg(m any) error {
	b, err := newCodec().Marshal(m)
	if err != nil {
		s.t.Fatalf("an answer cannot be encoded: %v", err)
	}
	var r pb.WatchResponse
	if err := proto.Unmarshal(b.Materialize(), &r); err != nil {
		s.t.Fatalf("an answer cannot be decoded: %v", err)
	}
	if r.Created {
		delete(s.seen, r.WatchId)
	}
	for _, e := range r.Events {
		if e.Kv.ModRevision < s.seen[r.WatchId] || e.Kv.ModRevision > r.Header.Revision {
			s.t.Errorf("watch %d: %d after %d, in an answer of %d", r.WatchId, e.Kv.ModRevision, s.seen[r.WatchId], r.Header.Revision)
		}
		s.seen[r.WatchId] = e.Kv.ModRevision
	}
	return nil
}

// FuzzWatch sends three arbitrary messages on a watch stream, each followed by a request for
// progress: the stream lives on or ends with an error.
func FuzzWatch(f *testing.F) {
	s := &watchServer{Server: fuzzed(f)}
	create := func(r *pb.WatchCreateRequest) []byte {
		return encode(f, &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: r}})
	}
	cancel := encode(f, &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{WatchId: 3}}})
	all := create(&pb.WatchCreateRequest{RangeEnd: []byte{0}, StartRevision: 2, PrevKv: true, Fragment: true, WatchId: 3})
	f.Add(all, all, cancel)
	f.Add(create(&pb.WatchCreateRequest{Key: []byte("a"), StartRevision: 100}), cancel, []byte{})
	f.Add(create(&pb.WatchCreateRequest{Key: []byte("b"), RangeEnd: []byte("a"), Filters: []pb.WatchCreateRequest_FilterType{0, 1, 9}}), all, cancel)
	f.Add(create(&pb.WatchCreateRequest{Key: []byte("a"), StartRevision: -1, WatchId: -1}), []byte{}, all)
	f.Fuzz(func(t *testing.T, one, two, three []byte) {
		stream := &script{t: t, seen: map[int64]int64{}}
		for _, b := range [][]byte{one, two, three} {
			var r pb.WatchRequest
			if proto.Unmarshal(b, &r) != nil {
				continue
			}
			progress := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}}
			stream.requests = append(stream.requests, &r, progress)
		}
		_ = s.Watch(stream) // an end with an error is an answer
	})
}
