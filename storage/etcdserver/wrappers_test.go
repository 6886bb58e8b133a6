package etcdserver_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/leasing"
	"go.etcd.io/etcd/client/v3/mirror"
	"go.etcd.io/etcd/client/v3/namespace"
	"go.etcd.io/etcd/client/v3/ordering"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// TestNamespace keeps two clients apart by their prefixes, which neither sees.
func TestNamespace(t *testing.T) {
	c, _ := serve(t)
	kv, watcher := namespace.NewKV(c.KV, "mine/"), namespace.NewWatcher(c.Watcher, "mine/")
	w := watcher.Watch(ctx(t), "", clientv3.WithFromKey(), clientv3.WithCreatedNotify())
	next(t, w)
	put(t, c, "mine", "before")
	put(t, c, "mine0", "after")
	if _, err := kv.Put(ctx(t), "a", "1"); err != nil {
		t.Fatal(err)
	}
	res, err := kv.Txn(ctx(t)).If(clientv3.Compare(clientv3.Value("a"), "=", "1")).Then(
		clientv3.OpPut("b", "2"), clientv3.OpGet("", clientv3.WithFromKey()), clientv3.OpDelete("a"),
	).Commit()
	if err != nil || !res.Succeeded {
		t.Fatalf("Txn: %v, %v", res, err)
	}
	if got := res.Responses[1].GetResponseRange().Kvs; len(got) != 2 || string(got[0].Key) != "a" || string(got[1].Key) != "b" {
		t.Errorf("read inside: %v", got)
	}
	if got := told(t, w, 3); got != "+a=1@4 +b=2@5 -a@5" {
		t.Errorf("watched: %s", got)
	}
	g, err := c.Get(ctx(t), "", clientv3.WithFromKey(), clientv3.WithKeysOnly())
	if err != nil || keys(g) != "mine mine/b mine0" {
		t.Errorf("there is %v, %v", keys(g), err)
	}
	l, err := c.Grant(ctx(t), 600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(ctx(t), "l", "1", clientv3.WithLease(l.ID)); err != nil {
		t.Fatal(err)
	}
	ttl, err := namespace.NewLease(c.Lease, "mine/").TimeToLive(ctx(t), l.ID, clientv3.WithAttachedKeys())
	if err != nil || len(ttl.Keys) != 1 || string(ttl.Keys[0]) != "l" {
		t.Errorf("the lease has %q, %v", ttl.Keys, err)
	}
}

// TestMirror copies a prefix in pages at one revision and goes on from there.
func TestMirror(t *testing.T) {
	c, _ := serve(t)
	const n = 2500 // more than two of the syncer's pages
	for i := range n {
		put(t, c, fmt.Sprintf("m/%04d", i), "1")
	}
	s := mirror.NewSyncer(c, "m/", 0)
	pages, failed := s.SyncBase(ctx(t))
	copied := map[string]bool{}
	for page := range pages {
		if len(copied) == 0 {
			put(t, c, "m/during", "1") // is not of the base, and not lost
		}
		for _, kv := range page.Kvs {
			copied[string(kv.Key)] = true
		}
	}
	if err := <-failed; err != nil || len(copied) != n || copied["m/during"] {
		t.Fatalf("%d keys, %v", len(copied), err)
	}
	if got := told(t, s.SyncUpdates(ctx(t)), 1); got != fmt.Sprintf("+m/during=1@%d", n+2) {
		t.Errorf("then: %s", got)
	}
}

// TestOrdering reads through the wrapper that refuses a revision older than one seen.
func TestOrdering(t *testing.T) {
	c, _ := serve(t)
	kv := ordering.NewKV(c.KV, func(clientv3.Op, clientv3.OpResponse, int64) error {
		t.Error("it went back in time")
		return ordering.ErrNoGreaterRev
	})
	for i := range 50 {
		at := put(t, c, "o", fmt.Sprint(i))
		g, err := kv.Get(ctx(t), "o", clientv3.WithSerializable())
		if err != nil || g.Header.Revision < at || string(g.Kvs[0].Value) != fmt.Sprint(i) {
			t.Fatalf("put at %d, then %v, %v", at, g, err)
		}
	}
}

// TestLeasing has two clients that cache their reads, and take the keys from each other.
func TestLeasing(t *testing.T) {
	c, _ := serve(t)
	one, closeOne, err := leasing.NewKV(c, "leasing/")
	if err != nil {
		t.Fatal(err)
	}
	defer closeOne()
	two, closeTwo, err := leasing.NewKV(c, "leasing/")
	if err != nil {
		t.Fatal(err)
	}
	defer closeTwo()
	for i := range 10 {
		writer, reader := one, two
		if i%2 == 1 {
			writer, reader = two, one
		}
		if _, err := writer.Put(ctx(t), "a", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		for _, kv := range []clientv3.KV{reader, writer} {
			if g, err := kv.Get(ctx(t), "a"); err != nil || len(g.Kvs) != 1 || string(g.Kvs[0].Value) != fmt.Sprint(i) {
				t.Fatalf("after %d: %v, %v", i, g, err)
			}
		}
	}
}

// TestLimits has requests as large as a client of etcd's may send them, and larger:
// by the server's limit, by gRPC's behind it, and by the client's own.
func TestLimits(t *testing.T) {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	address := serveStore(t, etcdserver.Config{Store: store})
	c := connect(t, address)
	most := etcdserver.MaxRequestBytes - 32
	put(t, c, "a", strings.Repeat("x", most))
	kv := pb.NewKVClient(c.ActiveConnection())
	for size, code := range map[int]codes.Code{
		etcdserver.MaxRequestBytes:             codes.InvalidArgument,   // etcd's refusal
		etcdserver.MaxRequestBytes + (1 << 20): codes.ResourceExhausted, // gRPC's
	} {
		_, err := kv.Put(ctx(t), &pb.PutRequest{Key: []byte("b"), Value: make([]byte, size)})
		if status.Code(err) != code {
			t.Errorf("%d bytes: %v, want %v", size, err, code)
		}
	}
	var ops []clientv3.Op
	for i := range 2 {
		ops = append(ops, clientv3.OpPut(fmt.Sprint("c", i), strings.Repeat("x", most/2)))
	}
	if _, err := c.Txn(ctx(t)).Then(ops...).Commit(); err != nil {
		t.Errorf("a transaction of the full size: %v", err)
	}
	small, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, MaxCallSendMsgSize: 1 << 10, MaxCallRecvMsgSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if _, err := small.Put(ctx(t), "d", strings.Repeat("x", 2<<10)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("more than the client sends: %v", err)
	}
	if _, err := small.Get(ctx(t), "a"); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("more than the client takes: %v", err)
	}
	if g, err := c.Get(ctx(t), "a", clientv3.WithPrefix()); err != nil || len(g.Kvs) != 1 || store.Revision() != 3 {
		t.Errorf("what is there at %d: %v", store.Revision(), err)
	}
}

// TestLeaseRestart restarts the store while a lease runs out: its keys go once the
// store is back, and those of a longer one stay.
func TestLeaseRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	store, err := local.Open(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	defer func() {
		if !closed {
			store.Close()
		}
	}()
	c := connect(t, serveStore(t, etcdserver.Config{Store: store}))
	for key, ttl := range map[string]int64{"short": 1, "long": 600} {
		l, err := c.Grant(ctx(t), ttl)
		if err != nil {
			t.Fatal(err)
		}
		put(t, c, key, "1", clientv3.WithLease(l.ID))
	}
	closed = true
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := local.Open(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	c = connect(t, serveStore(t, etcdserver.Config{Store: again}))
	w := c.Watch(ctx(t), "", clientv3.WithFromKey(), clientv3.WithRev(2), clientv3.WithFilterPut())
	if got := told(t, w, 1); !strings.HasPrefix(got, "-short@") {
		t.Errorf("it ended with %s", got)
	}
	g, err := c.Get(ctx(t), "", clientv3.WithFromKey())
	if err != nil || keys(g) != "long" {
		t.Errorf("there is %v, %v", keys(g), err)
	}
	if all, err := c.Leases(ctx(t)); err != nil || len(all.Leases) != 1 {
		t.Errorf("Leases: %v, %v", all, err)
	}
}
