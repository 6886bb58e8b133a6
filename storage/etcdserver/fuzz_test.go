package etcdserver

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// FuzzEvent encodes an event by hand and reads it with protobuf's own code.
func FuzzEvent(f *testing.F) {
	f.Add(false, true, "/a", []byte("b"), int64(2), int64(5), int64(3), int64(7), int64(1), []byte("p"))
	f.Add(true, false, "", []byte(nil), int64(0), int64(-1), int64(0), int64(1<<62), int64(0), []byte(nil))
	f.Fuzz(func(t *testing.T, deleted, prev bool, key string, value []byte, create, mod, version, lease, id int64, old []byte) {
		e := storage.Event{KV: &storage.KeyValue{
			Key: key, Value: value, CreateRevision: storage.Revision(create), ModRevision: storage.Revision(mod),
			Version: version, Lease: storage.LeaseID(lease),
		}, Prev: &storage.KeyValue{Key: key, Value: old, ModRevision: storage.Revision(create)}}
		want := &mvccpb.Event{Kv: toKeyValue(e.KV)}
		if deleted {
			e.Type, want.Type = storage.Delete, mvccpb.Event_DELETE
		}
		if prev {
			want.PrevKv = toKeyValue(e.Prev)
		}
		response := &pb.WatchResponse{Header: header(e.KV.ModRevision), WatchId: id, Fragment: deleted, Events: []*mvccpb.Event{want, want}}
		b := encodeHead(e.KV.ModRevision, id, deleted)
		b = append(append(b, encodeEvent(e, prev)...), encodeEvent(e, prev)...)
		var got pb.WatchResponse
		if err := proto.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		// Through protobuf once, which knows no difference between nil and empty.
		plain, err := proto.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		response.Reset()
		if err := proto.Unmarshal(plain, response); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(response, &got, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	})
}

// FuzzTxn sends arbitrary TxnRequests: each is answered or refused, and only a successful one takes
// a revision.
func FuzzTxn(f *testing.F) {
	store, err := local.Open("", local.Options{InMemory: true, History: time.Hour})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { store.Close() })
	s := &kvServer{Server: New(Config{Store: store})}
	put := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("a"), Value: []byte("1"), PrevKv: true}}}
	get := &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: []byte("a"), RangeEnd: []byte("z"), Limit: 2}}}
	del := &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte("b"), RangeEnd: []byte{0}}}}
	nested := &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: &pb.TxnRequest{
		Compare: []*pb.Compare{{Target: pb.Compare_VALUE, Key: []byte("a"), RangeEnd: []byte("b"), Result: pb.Compare_GREATER}}, Failure: []*pb.RequestOp{get, put},
	}}}
	for _, ops := range [][]*pb.RequestOp{{put}, {get, put, get}, {del, get}, {nested}, {nested, del}, {}} {
		b, err := proto.Marshal(&pb.TxnRequest{Compare: []*pb.Compare{{Target: pb.Compare_MOD, Key: []byte("a")}}, Success: ops, Failure: ops})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r pb.TxnRequest
		if proto.Unmarshal(b, &r) != nil {
			return
		}
		before := store.Revision()
		out, err := s.Txn(t.Context(), &r)
		if err != nil && store.Revision() != before {
			t.Errorf("it failed with %v and wrote", err)
		}
		if err == nil && out.Header.Revision != int64(store.Revision()) {
			t.Errorf("revision %d, the store is at %d", out.Header.Revision, store.Revision())
		}
	})
}
