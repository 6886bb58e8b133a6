package etcdserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// story writes events as "+key=value@revision(previous)" and "-key@revision".
func story(events []*clientv3.Event) string {
	var out []string
	for _, e := range events {
		s := fmt.Sprintf("+%s=%s@%d", e.Kv.Key, e.Kv.Value, e.Kv.ModRevision)
		if e.Type == mvccpb.Event_DELETE {
			s = fmt.Sprintf("-%s@%d", e.Kv.Key, e.Kv.ModRevision)
		}
		if e.PrevKv != nil {
			s += fmt.Sprintf("(%s)", e.PrevKv.Value)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// told collects n events.
func told(t *testing.T, w clientv3.WatchChan, n int) string {
	t.Helper()
	var events []*clientv3.Event
	for len(events) < n {
		r := next(t, w)
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		events = append(events, r.Events...)
	}
	return story(events)
}

func TestWatch(t *testing.T) {
	c, _ := serve(t)
	put(t, c, "a/1", "1")
	put(t, c, "a/1", "2")
	put(t, c, "b/1", "1")
	if _, err := c.Delete(ctx(t), "a/1"); err != nil {
		t.Fatal(err)
	}
	put(t, c, "a/2", "1")
	all := "+a/1=1@2 +a/1=2@3 -a/1@5 +a/2=1@6"
	for name, test := range map[string]struct {
		key  string
		opts []clientv3.OpOption
		n    int
		want string
	}{
		"from the start":  {"a/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithRev(1)}, 4, all},
		"from a revision": {"a/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithRev(3)}, 3, "+a/1=2@3 -a/1@5 +a/2=1@6"},
		"one key":         {"b/1", []clientv3.OpOption{clientv3.WithRev(1)}, 1, "+b/1=1@4"},
		"from a key on":   {"b", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithRev(1)}, 1, "+b/1=1@4"},
		"previous":        {"a/1", []clientv3.OpOption{clientv3.WithPrevKV(), clientv3.WithRev(1)}, 3, "+a/1=1@2 +a/1=2@3(1) -a/1@5(2)"},
		"no puts":         {"a/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithFilterPut(), clientv3.WithRev(1)}, 1, "-a/1@5"},
		"no deletions":    {"a/", []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithFilterDelete(), clientv3.WithRev(1)}, 3, "+a/1=1@2 +a/1=2@3 +a/2=1@6"},
	} {
		w := c.Watch(ctx(t), test.key, test.opts...)
		if got := told(t, w, test.n); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	// From now on, and from a future revision.
	now := c.Watch(ctx(t), "a/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	if r := next(t, now); !r.Created || r.Header.Revision != 6 {
		t.Errorf("created: %+v", r)
	}
	later := c.Watch(ctx(t), "a/", clientv3.WithPrefix(), clientv3.WithRev(8), clientv3.WithCreatedNotify())
	next(t, later)
	put(t, c, "a/3", "1")
	put(t, c, "a/3", "2")
	if got := told(t, now, 2); got != "+a/3=1@7 +a/3=2@8" {
		t.Errorf("from now on: %s", got)
	}
	if got := told(t, later, 1); got != "+a/3=2@8" {
		t.Errorf("from a future revision: %s", got)
	}
}

// TestWatchMany puts many watches on one stream: each sees its own, and a
// transaction comes in one piece.
func TestWatchMany(t *testing.T) {
	c, _ := serve(t)
	const n = 200
	var all []clientv3.WatchChan
	cancelled, cancel := context.WithCancel(ctx(t))
	for i := range n {
		by := ctx(t)
		if i%2 == 1 {
			by = cancelled
		}
		w := c.Watch(by, fmt.Sprintf("k%03d", i), clientv3.WithRange(fmt.Sprintf("k%03d", i+2)), clientv3.WithCreatedNotify())
		next(t, w)
		all = append(all, w)
	}
	var ops []clientv3.Op
	for i := range 100 {
		ops = append(ops, clientv3.OpPut(fmt.Sprintf("k%03d", i), ""))
	}
	if _, err := c.Txn(ctx(t)).Then(ops...).Commit(); err != nil {
		t.Fatal(err)
	}
	for i, w := range all {
		want := min(2, max(0, 100-i))
		if want > 0 {
			if r := next(t, w); len(r.Events) != want {
				t.Errorf("watch %d: %s, want %d events at once", i, story(r.Events), want)
			}
		}
	}
	cancel()
	for i := 1; i < n; i += 2 {
		for range all[i] {
		}
	}
	put(t, c, "k150", "still there")
	if r := next(t, all[150]); len(r.Events) != 1 {
		t.Errorf("after others were cancelled: %+v", r)
	}
}

func TestWatchCompacted(t *testing.T) {
	c, _ := serve(t)
	for i := range 10 {
		put(t, c, "a", fmt.Sprint(i))
	}
	if _, err := c.Compact(ctx(t), 6); err != nil {
		t.Fatal(err)
	}
	r := next(t, c.Watch(ctx(t), "a", clientv3.WithRev(3)))
	if !r.Canceled || r.CompactRevision != 6 || r.Err() != rpctypes.ErrCompacted {
		t.Errorf("a compacted start: %+v, %v", r, r.Err())
	}
	if got := told(t, c.Watch(ctx(t), "a", clientv3.WithRev(7)), 5); !strings.HasPrefix(got, "+a=5@7") {
		t.Errorf("after the compaction: %s", got)
	}
}

func TestWatchRefused(t *testing.T) {
	c, _ := serve(t)
	r := next(t, c.Watch(ctx(t), "b", clientv3.WithRange("a")))
	if !r.Canceled || !strings.Contains(r.Err().Error(), "watcher range is empty") {
		t.Errorf("an empty range: %+v", r)
	}
	stream, err := pb.NewWatchClient(c.ActiveConnection()).Watch(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(r *pb.WatchCreateRequest) *pb.WatchResponse {
		t.Helper()
		if err := stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: r}}); err != nil {
			t.Fatal(err)
		}
		out, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if r := ask(&pb.WatchCreateRequest{Key: []byte("a"), WatchId: 7}); r.WatchId != 7 || !r.Created || r.Canceled {
		t.Errorf("an ID of one's own: %v", r)
	}
	if r := ask(&pb.WatchCreateRequest{Key: []byte("a"), WatchId: 7}); r.WatchId != -1 || !r.Created || !r.Canceled {
		t.Errorf("the same again: %v", r)
	}
	if r := ask(&pb.WatchCreateRequest{Key: []byte("a")}); r.WatchId != 0 || !r.Created {
		t.Errorf("any ID: %v", r)
	}
	if r := ask(&pb.WatchCreateRequest{Key: []byte("a"), StartRevision: -1}); !r.Canceled || r.CancelReason != rpctypes.ErrCompacted.Error() {
		t.Errorf("a negative revision: %v", r)
	}
}

func TestWatchProgress(t *testing.T) {
	c, _ := serve(t)
	w := c.Watch(ctx(t), "a", clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())
	next(t, w)
	put(t, c, "elsewhere", "")
	for {
		if r := next(t, w); r.IsProgressNotify() && r.Header.Revision == 2 {
			break
		}
	}
	// On request, for all watches of the stream.
	quiet := c.Watch(ctx(t), "b", clientv3.WithCreatedNotify())
	next(t, quiet)
	put(t, c, "elsewhere", "")
	if err := c.RequestProgress(ctx(t)); err != nil {
		t.Fatal(err)
	}
	if r := next(t, quiet); !r.IsProgressNotify() || r.Header.Revision != 3 {
		t.Errorf("on request: %+v", r)
	}
}

// TestWatchProgressOrder writes and requests progress all the time: events up to the reported
// progress must have been delivered.
func TestWatchProgressOrder(t *testing.T) {
	c, _ := serve(t)
	w := c.Watch(ctx(t), "a", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	next(t, w)
	const n = 300
	go func() {
		for i := range n {
			c.Put(context.Background(), fmt.Sprint("a", i), "")
			if i%3 == 0 {
				c.RequestProgress(context.Background())
			}
		}
	}()
	seen := int64(1)
	for seen < n+1 {
		r := next(t, w)
		if r.IsProgressNotify() && r.Header.Revision > seen {
			t.Fatalf("progress %d, but only %d was seen", r.Header.Revision, seen)
		}
		for _, e := range r.Events {
			if e.Kv.ModRevision != seen+1 {
				t.Fatalf("revision %d after %d", e.Kv.ModRevision, seen)
			}
			seen++
		}
	}
}

func TestWatchFragments(t *testing.T) {
	c, _ := serve(t)
	stream, err := pb.NewWatchClient(c.ActiveConnection()).Watch(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	// 6 MB in one transaction of values that were there before.
	var ops []clientv3.Op
	for i := range 6 {
		put(t, c, fmt.Sprint("a", i), strings.Repeat("x", 1<<20))
		ops = append(ops, clientv3.OpDelete(fmt.Sprint("a", i)))
	}
	r, err := c.Txn(ctx(t)).Then(ops...).Commit()
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
		Key: []byte("a"), RangeEnd: []byte("b"), StartRevision: r.Header.Revision, PrevKv: true, Fragment: true,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	events, parts := 0, 0
	for {
		r, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if r.Created {
			continue
		}
		parts++
		events += len(r.Events)
		if !r.Fragment {
			break
		}
	}
	if events != 6 || parts < 3 {
		t.Errorf("%d events in %d parts", events, parts)
	}
}

// TestWatchSlowReader reads only after ten megabytes have come: no event is missing.
func TestWatchSlowReader(t *testing.T) {
	c, _ := serve(t)
	slow := c.Watch(ctx(t), "a", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	next(t, slow)
	for i := range 100 {
		put(t, c, fmt.Sprint("a", i), strings.Repeat("x", 100<<10))
	}
	if got := len(strings.Fields(told(t, slow, 100))); got != 100 {
		t.Errorf("%d events", got)
	}
}

func TestLease(t *testing.T) {
	c, _ := serve(t)
	l, err := c.Grant(ctx(t), 600)
	if err != nil || l.TTL != 600 {
		t.Fatalf("Grant: %v, %v", l, err)
	}
	put(t, c, "a", "1", clientv3.WithLease(l.ID))
	put(t, c, "b", "1", clientv3.WithLease(l.ID))
	ttl, err := c.TimeToLive(ctx(t), l.ID, clientv3.WithAttachedKeys())
	if err != nil || ttl.GrantedTTL != 600 || ttl.TTL < 590 || len(ttl.Keys) != 2 {
		t.Errorf("TimeToLive: %v, %v", ttl, err)
	}
	sooner, err := c.Grant(ctx(t), 60)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := c.Leases(ctx(t)); err != nil || len(all.Leases) != 2 || all.Leases[0].ID != sooner.ID || all.Leases[1].ID != l.ID {
		t.Errorf("Leases, the one that ends first first: %v, %v", all, err)
	}
	if _, err := c.Revoke(ctx(t), sooner.ID); err != nil {
		t.Fatal(err)
	}
	all, err := c.Leases(ctx(t))
	if err != nil || len(all.Leases) != 1 || all.Leases[0].ID != l.ID {
		t.Errorf("Leases: %v, %v", all, err)
	}
	alive, err := c.KeepAliveOnce(ctx(t), l.ID)
	if err != nil || alive.TTL != 600 {
		t.Errorf("KeepAliveOnce: %v, %v", alive, err)
	}
	w := c.Watch(ctx(t), "", clientv3.WithFromKey(), clientv3.WithCreatedNotify())
	next(t, w)
	if _, err := c.Revoke(ctx(t), l.ID); err != nil {
		t.Fatal(err)
	}
	if got := told(t, w, 2); got != "-a@4 -b@4" {
		t.Errorf("revoking: %s", got)
	}
	_, err = c.Revoke(ctx(t), l.ID)
	wantErr(t, "revoking twice", err, rpctypes.ErrLeaseNotFound)
	_, err = c.KeepAliveOnce(ctx(t), l.ID)
	wantErr(t, "keeping what is gone", err, rpctypes.ErrLeaseNotFound)
	if ttl, err := c.TimeToLive(ctx(t), l.ID); err != nil || ttl.TTL != -1 {
		t.Errorf("TimeToLive of what is gone: %v, %v", ttl, err)
	}
	_, err = c.Grant(ctx(t), 9_000_000_001)
	wantErr(t, "a large TTL", err, rpctypes.ErrLeaseTTLTooLarge)
	// A short one ends by itself.
	for {
		short, err := c.Grant(ctx(t), 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Put(ctx(t), "s", "1", clientv3.WithLease(short.ID))
		if err == nil {
			break
		}
		wantErr(t, "a lease that ended before it was used", err, rpctypes.ErrLeaseNotFound)
	}
	if got := told(t, w, 2); !strings.HasSuffix(got, "-s@6") {
		t.Errorf("expiry: %s", got)
	}
	_, err = pb.NewLeaseClient(c.ActiveConnection()).LeaseGrant(ctx(t), &pb.LeaseGrantRequest{ID: 5, TTL: 100})
	if err != nil {
		t.Fatal(err)
	}
	_, err = pb.NewLeaseClient(c.ActiveConnection()).LeaseGrant(ctx(t), &pb.LeaseGrantRequest{ID: 5, TTL: 100})
	wantErr(t, "the same ID", err, rpctypes.ErrGRPCLeaseExist)
}
