package etcdserver_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
)

// A twin sends each request to etcd and to us.
type twin struct {
	kv    pb.KVClient
	lease pb.LeaseClient
	watch pb.WatchClient
}

func startEtcd(t testing.TB) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.LogOutputs = t.TempDir(), "fatal", []string{"/dev/null"}
	any := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{any}, []url.URL{any}
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return e.Clients[0].Addr().String()
}

// TestTwins sends the same long random sequence of requests to etcd and to us. Every response
// must be the same, to the last field and the last word of an error, except the identity of
// the server.
func TestTwins(t *testing.T) {
	address := startEtcd(t)
	for seed := range uint64(2) {
		ours, _ := serve(t)
		if seed > 0 {
			address = startEtcd(t)
		}
		theirs := connect(t, address)
		g := &game{T: t, rand: rand.New(rand.NewPCG(seed, 1)), last: 1}
		a, b := theirs.ActiveConnection(), ours.ActiveConnection()
		g.theirs = twin{pb.NewKVClient(a), pb.NewLeaseClient(a), pb.NewWatchClient(a)}
		g.ours = twin{pb.NewKVClient(b), pb.NewLeaseClient(b), pb.NewWatchClient(b)}
		for step := 0; step < 1200 && !t.Failed(); step++ {
			g.step()
			if t.Failed() {
				t.Logf("seed %d, step %d", seed, step)
			}
		}
		if !t.Failed() {
			g.compareWatches()
		}
	}
}

type game struct {
	*testing.T
	rand            *rand.Rand
	theirs, ours    twin
	last, compacted int64
}

func (g *game) key() []byte { return fmt.Appendf(nil, "%c%d", 'a'+g.rand.IntN(2), g.rand.IntN(4)) }

// end is the end of a range: absent, a key, or unbounded.
func (g *game) end() []byte {
	switch g.rand.IntN(5) {
	case 0, 1:
		return nil
	case 2:
		return []byte{0}
	}
	return g.key()
}

func (g *game) rev() int64 {
	if g.rand.IntN(2) == 0 {
		return 0
	}
	return g.last + 1 - g.rand.Int64N(30)
}

func (g *game) put() *pb.PutRequest {
	r := &pb.PutRequest{Key: g.key(), Value: fmt.Append(nil, g.rand.IntN(20)), PrevKv: g.rand.IntN(3) == 0}
	switch g.rand.IntN(8) {
	case 0:
		r.IgnoreValue, r.Value = true, nil
	case 1:
		r.IgnoreLease = true
	case 2, 3:
		r.Lease = 1 + g.rand.Int64N(3)
	}
	return r
}

func (g *game) get() *pb.RangeRequest {
	r := &pb.RangeRequest{
		Key: g.key(), RangeEnd: g.end(), Revision: max(0, g.rev()), Limit: g.rand.Int64N(4),
		KeysOnly: g.rand.IntN(5) == 0, CountOnly: g.rand.IntN(6) == 0,
	}
	if g.rand.IntN(3) == 0 {
		r.SortOrder = pb.RangeRequest_SortOrder(g.rand.IntN(3))
		// Other orders than these have ties, which etcd leaves to chance.
		r.SortTarget = []pb.RangeRequest_SortTarget{pb.RangeRequest_KEY, pb.RangeRequest_CREATE, pb.RangeRequest_MOD}[g.rand.IntN(3)]
	}
	if g.rand.IntN(4) == 0 {
		r.MinModRevision = max(0, g.rev())
	}
	if g.rand.IntN(4) == 0 {
		r.MaxCreateRevision = max(0, g.rev())
	}
	return r
}

func (g *game) delete() *pb.DeleteRangeRequest {
	return &pb.DeleteRangeRequest{Key: g.key(), RangeEnd: g.end(), PrevKv: g.rand.IntN(2) == 0}
}

func (g *game) compare() *pb.Compare {
	c := &pb.Compare{Key: g.key(), Result: pb.Compare_CompareResult(g.rand.IntN(4)), Target: pb.Compare_CompareTarget(g.rand.IntN(5))}
	if g.rand.IntN(4) == 0 {
		c.RangeEnd = g.end()
	}
	n := g.rand.Int64N(3)
	switch c.Target {
	case pb.Compare_VERSION:
		c.TargetUnion = &pb.Compare_Version{Version: n}
	case pb.Compare_CREATE:
		c.TargetUnion = &pb.Compare_CreateRevision{CreateRevision: n * g.rand.Int64N(g.last)}
	case pb.Compare_MOD:
		c.TargetUnion = &pb.Compare_ModRevision{ModRevision: n * g.rand.Int64N(g.last)}
	case pb.Compare_VALUE:
		c.TargetUnion = &pb.Compare_Value{Value: fmt.Append(nil, g.rand.IntN(20))}
	case pb.Compare_LEASE:
		c.TargetUnion = &pb.Compare_Lease{Lease: n}
	}
	return c
}

func (g *game) ops(depth int) (ops []*pb.RequestOp) {
	for range g.rand.IntN(4) {
		op := &pb.RequestOp{}
		switch n := g.rand.IntN(10); {
		case n < 3:
			op.Request = &pb.RequestOp_RequestRange{RequestRange: g.get()}
		case n < 7:
			op.Request = &pb.RequestOp_RequestPut{RequestPut: g.put()}
		case n < 9 || depth == 0:
			d := g.delete()
			if len(d.RangeEnd) == 1 {
				d.RangeEnd = nil // here we are stricter than etcd; see the package comment
			}
			op.Request = &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: d}
		default:
			op.Request = &pb.RequestOp_RequestTxn{RequestTxn: g.txn(depth - 1)}
		}
		ops = append(ops, op)
	}
	return ops
}

func (g *game) txn(depth int) *pb.TxnRequest {
	r := &pb.TxnRequest{Success: g.ops(depth), Failure: g.ops(depth)}
	for range g.rand.IntN(3) {
		r.Compare = append(r.Compare, g.compare())
	}
	return r
}

func (g *game) step() {
	switch n := g.rand.IntN(100); {
	case n < 15:
		both(g, g.put(), g.theirs.kv.Put, g.ours.kv.Put)
	case n < 30:
		both(g, g.get(), g.theirs.kv.Range, g.ours.kv.Range)
	case n < 40:
		both(g, g.delete(), g.theirs.kv.DeleteRange, g.ours.kv.DeleteRange)
	case n < 90:
		both(g, g.txn(2), g.theirs.kv.Txn, g.ours.kv.Txn)
	case n < 94:
		both(g, &pb.LeaseGrantRequest{ID: 1 + g.rand.Int64N(3), TTL: 1000}, g.theirs.lease.LeaseGrant, g.ours.lease.LeaseGrant)
	case n < 97:
		both(g, &pb.LeaseRevokeRequest{ID: 1 + g.rand.Int64N(3)}, g.theirs.lease.LeaseRevoke, g.ours.lease.LeaseRevoke)
	default:
		r := g.compacted + g.rand.Int64N(20) + 1
		if r > g.compacted && r <= g.last {
			g.compacted = r
		}
		both(g, &pb.CompactionRequest{Revision: r, Physical: true}, g.theirs.kv.Compact, g.ours.kv.Compact)
	}
}

// both asks both and compares the answers.
func both[Q, A proto.Message, O any](g *game, q Q, theirs, ours func(context.Context, Q, ...O) (A, error)) {
	g.Helper()
	want, wantErr := theirs(ctx(g), q)
	got, gotErr := ours(ctx(g), q)
	if a, b := status.Convert(wantErr), status.Convert(gotErr); a.Code() != b.Code() || a.Message() != b.Message() {
		g.Errorf("%v:\netcd: %v\nus:   %v", q, wantErr, gotErr)
		return
	}
	if wantErr != nil {
		return
	}
	g.same(q, want, got)
	if h, ok := any(got).(interface{ GetHeader() *pb.ResponseHeader }); ok {
		g.last = max(g.last, h.GetHeader().GetRevision())
	}
}

// same compares answers except the identity of the server.
func (g *game) same(q any, want, got proto.Message) {
	g.Helper()
	diff := cmp.Diff(want, got, protocmp.Transform(),
		protocmp.IgnoreFields(new(pb.ResponseHeader), protoreflect.Name("cluster_id"), "member_id", "raft_term"))
	if diff != "" {
		g.Errorf("%v: etcd (-) and we (+) differ:\n%s", q, diff)
	}
}

// compareWatches reads the rest of the history from both.
func (g *game) compareWatches() {
	collect := func(w pb.WatchClient, prev bool) (events []*mvccpb.Event) {
		stream, err := w.Watch(ctx(g))
		if err != nil {
			g.Fatal(err)
		}
		err = stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
			Key: []byte{0}, RangeEnd: []byte{0}, StartRevision: g.compacted + 1, PrevKv: prev,
		}}})
		if err != nil {
			g.Fatal(err)
		}
		for at := g.compacted; at < g.last; {
			r, err := stream.Recv()
			if err != nil || r.Canceled {
				g.Fatal(r, err)
			}
			for _, e := range r.Events {
				at = e.Kv.ModRevision
				events = append(events, e)
			}
		}
		return events
	}
	for _, prev := range []bool{false, true} {
		want, got := collect(g.theirs.watch, prev), collect(g.ours.watch, prev)
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			g.Errorf("watching: etcd (-) and we (+) differ:\n%s", diff)
		}
		g.Logf("%d events are the same", len(got))
	}
}
