package etcdserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// TestTwinsRanges reads the same keys from etcd and from us in every order, by every
// target, with every kind of limit, filter and revision, at once and as a stream: the
// answers must be the same to the last field. The numbers and values of the keys have no
// ties, which etcd leaves to chance.
func TestTwinsRanges(t *testing.T) {
	ours, _ := serve(t)
	theirs := connect(t, startEtcd(t))
	g := &game{T: t, rand: rand.New(rand.NewPCG(1, 1)), last: 1}
	a, b := theirs.ActiveConnection(), ours.ActiveConnection()
	g.theirs = twin{pb.NewKVClient(a), pb.NewLeaseClient(a), pb.NewWatchClient(a)}
	g.ours = twin{pb.NewKVClient(b), pb.NewLeaseClient(b), pb.NewWatchClient(b)}
	both(g, &pb.LeaseGrantRequest{ID: 7, TTL: 1000}, g.theirs.lease.LeaseGrant, g.ours.lease.LeaseGrant)
	const keys = 5
	for i := range keys {
		for n := range (3*i)%keys + 1 { // each has a version of its own, in no order
			put := &pb.PutRequest{Key: fmt.Append(nil, "k", (2*i)%keys), Value: fmt.Append(nil, (4*i+2*n)%7, i, n)}
			if i == 2 {
				put.Lease = 7
			}
			both(g, put, g.theirs.kv.Put, g.ours.kv.Put)
		}
	}
	both(g, &pb.CompactionRequest{Revision: 4, Physical: true}, g.theirs.kv.Compact, g.ours.kv.Compact)
	asked := 0
	ask := func(change func(r *pb.RangeRequest)) {
		for order := range pb.RangeRequest_SortOrder(3) {
			for target := range pb.RangeRequest_SortTarget(5) {
				for _, limit := range []int64{0, 1, 2, keys, keys + 1} {
					r := &pb.RangeRequest{Key: []byte("k"), RangeEnd: []byte("l"), SortOrder: order, SortTarget: target, Limit: limit}
					change(r)
					both(g, r, g.theirs.kv.Range, g.ours.kv.Range)
					if order == pb.RangeRequest_NONE && target != pb.RangeRequest_KEY {
						continue // see the package comment
					}
					both(g, r, streamed(g.theirs.kv), streamed(g.ours.kv))
					asked++
				}
			}
		}
	}
	for _, change := range []func(r *pb.RangeRequest){
		func(*pb.RangeRequest) {},
		func(r *pb.RangeRequest) { r.KeysOnly = true },
		func(r *pb.RangeRequest) { r.CountOnly = true },
		func(r *pb.RangeRequest) { r.CountOnly, r.KeysOnly = true, true },
		func(r *pb.RangeRequest) { r.Serializable = true },
		func(r *pb.RangeRequest) { r.RangeEnd = nil },
		func(r *pb.RangeRequest) { r.Key = []byte("k1"); r.RangeEnd = nil },
		func(r *pb.RangeRequest) { r.Key = []byte{0}; r.RangeEnd = []byte{0} },
		func(r *pb.RangeRequest) { r.Key, r.RangeEnd = r.RangeEnd, r.Key },
		func(r *pb.RangeRequest) { r.Revision = 9 },
		func(r *pb.RangeRequest) { r.Revision = 3 },
		func(r *pb.RangeRequest) { r.Revision = 99 },
		func(r *pb.RangeRequest) { r.MinModRevision = 6 },
		func(r *pb.RangeRequest) { r.MaxModRevision = 9 },
		func(r *pb.RangeRequest) { r.MinCreateRevision = 5 },
		func(r *pb.RangeRequest) { r.MaxCreateRevision = 9; r.MinModRevision = 4 },
	} {
		ask(change)
	}
	t.Logf("%d ranges are the same", asked)
}

// streamed makes one answer of a stream of them.
func streamed(kv pb.KVClient) func(context.Context, *pb.RangeRequest, ...grpc.CallOption) (*pb.RangeResponse, error) {
	return func(ctx context.Context, r *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
		stream, err := kv.RangeStream(ctx, r)
		if err != nil {
			return nil, err
		}
		for out := new(pb.RangeResponse); ; {
			part, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			if err != nil {
				return nil, err
			}
			proto.Merge(out, part.RangeResponse)
		}
	}
}
