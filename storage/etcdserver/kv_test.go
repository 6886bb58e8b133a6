package etcdserver_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/status"
)

func keys(r *clientv3.GetResponse) string {
	var out []string
	for _, kv := range r.Kvs {
		out = append(out, string(kv.Key))
	}
	return strings.Join(out, " ")
}

func TestRange(t *testing.T) {
	c, _ := serve(t)
	for i, key := range strings.Fields("a b c d c e b c") { // revisions 2..9
		put(t, c, key, fmt.Sprint(9-i))
	}
	for _, test := range []struct {
		key  string
		opts []clientv3.OpOption
		want string
		more bool
		n    int64
	}{
		{"a", nil, "a", false, 1},
		{"x", nil, "", false, 0},
		{"b", []clientv3.OpOption{clientv3.WithRange("d")}, "b c", false, 2},
		{"d", []clientv3.OpOption{clientv3.WithRange("b")}, "", false, 0},
		{"c", []clientv3.OpOption{clientv3.WithFromKey()}, "c d e", false, 3},
		{"", []clientv3.OpOption{clientv3.WithPrefix()}, "a b c d e", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithLimit(2)}, "a b", true, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithLimit(5)}, "a b c d e", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithCountOnly()}, "", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithRev(4)}, "a b c", false, 3},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend)}, "e d c b a", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortAscend)}, "a d e b c", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend)}, "e d c b a", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithSort(clientv3.SortByVersion, clientv3.SortDescend), clientv3.WithLimit(2)}, "c b", true, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithSort(clientv3.SortByValue, clientv3.SortAscend)}, "c b e d a", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithMinModRev(6)}, "b c e", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithMaxModRev(6)}, "a d", false, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithMinCreateRev(4), clientv3.WithLimit(2)}, "c d", true, 5},
		{"", []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithMaxCreateRev(3)}, "a b", false, 5},
	} {
		r, err := c.Get(ctx(t), test.key, test.opts...)
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		if keys(r) != test.want || r.More != test.more || r.Count != test.n || r.Header.Revision != 9 {
			t.Errorf("%+v: %q, more %v, count %d, revision %d", test, keys(r), r.More, r.Count, r.Header.Revision)
		}
	}
	r, err := c.Get(ctx(t), "c", clientv3.WithKeysOnly())
	if err != nil || len(r.Kvs) != 1 || r.Kvs[0].Value != nil || r.Kvs[0].Version != 3 || r.Kvs[0].CreateRevision != 4 || r.Kvs[0].ModRevision != 9 {
		t.Errorf("keys only: %v, %v", r, err)
	}
	if _, err := c.Compact(ctx(t), 5); err != nil {
		t.Fatal(err)
	}
	_, err = c.Get(ctx(t), "a", clientv3.WithRev(4))
	wantErr(t, "a compacted revision", err, rpctypes.ErrCompacted)
	_, err = c.Get(ctx(t), "a", clientv3.WithRev(99))
	wantErr(t, "a future revision", err, rpctypes.ErrFutureRev)
	_, err = c.Compact(ctx(t), 5)
	wantErr(t, "compacting twice", err, rpctypes.ErrCompacted)
	_, err = c.Compact(ctx(t), 99)
	wantErr(t, "compacting the future", err, rpctypes.ErrFutureRev)
}

// wantErr compares codes and words.
func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) && status.Convert(err).Message() != status.Convert(want).Message() {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestRangeStream(t *testing.T) {
	c, _ := serve(t)
	for i := range 30 {
		put(t, c, fmt.Sprintf("k%02d", i), strings.Repeat("x", 100<<10))
	}
	chunks := 0
	var all []string
	stream, err := c.GetStream(ctx(t), "k", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var last *clientv3.GetResponse
	for chunk := range stream {
		if err := chunk.Err(); err != nil {
			t.Fatal(err)
		}
		chunks++
		last = (*clientv3.GetResponse)(chunk.RangeResponse)
		for _, kv := range last.Kvs {
			all = append(all, string(kv.Key))
		}
	}
	if chunks < 2 || len(all) != 30 || !slices.IsSorted(all) || last.Count != 30 || last.Header.Revision != 31 {
		t.Errorf("%d chunks, %d keys, last %v", chunks, len(all), last)
	}
}

func TestPut(t *testing.T) {
	c, _ := serve(t)
	put(t, c, "a", "1")
	r, err := c.Put(ctx(t), "a", "2", clientv3.WithPrevKV())
	if err != nil || string(r.PrevKv.Value) != "1" || r.PrevKv.ModRevision != 2 || r.Header.Revision != 3 {
		t.Errorf("previous value: %v, %v", r, err)
	}
	r, err = c.Put(ctx(t), "b", "1", clientv3.WithPrevKV())
	if err != nil || r.PrevKv != nil {
		t.Errorf("previous value of a new key: %v, %v", r, err)
	}
	l, err := c.Grant(ctx(t), 600)
	if err != nil {
		t.Fatal(err)
	}
	put(t, c, "a", "3", clientv3.WithLease(l.ID))
	put(t, c, "a", "4", clientv3.WithIgnoreLease())
	put(t, c, "a", "", clientv3.WithIgnoreValue())
	g, err := c.Get(ctx(t), "a")
	if err != nil || string(g.Kvs[0].Value) != "4" || g.Kvs[0].Lease != 0 || g.Kvs[0].Version != 5 {
		t.Errorf("ignoring the value keeps it, and drops the lease: %v, %v", g, err)
	}
	_, err = c.Put(ctx(t), "x", "", clientv3.WithIgnoreValue())
	wantErr(t, "ignoring the value of nothing", err, rpctypes.ErrKeyNotFound)
	_, err = c.Put(ctx(t), "a", "x", clientv3.WithIgnoreValue())
	wantErr(t, "ignoring a value and giving one", err, rpctypes.ErrValueProvided)
	_, err = c.Put(ctx(t), "a", "x", clientv3.WithIgnoreLease(), clientv3.WithLease(l.ID))
	wantErr(t, "ignoring a lease and giving one", err, rpctypes.ErrLeaseProvided)
	_, err = c.Put(ctx(t), "a", "x", clientv3.WithLease(77))
	wantErr(t, "no such lease", err, rpctypes.ErrLeaseNotFound)
	_, err = c.Put(ctx(t), "", "x")
	wantErr(t, "no key", err, rpctypes.ErrEmptyKey)
	_, err = c.Put(ctx(t), "a", strings.Repeat("x", 1600<<10))
	wantErr(t, "too large", err, rpctypes.ErrRequestTooLarge)
}

func TestDelete(t *testing.T) {
	c, _ := serve(t)
	for _, key := range strings.Fields("a1 a2 b1 c1 c2") {
		put(t, c, key, key)
	}
	r, err := c.Delete(ctx(t), "a", clientv3.WithPrefix(), clientv3.WithPrevKV())
	if err != nil || r.Deleted != 2 || len(r.PrevKvs) != 2 || string(r.PrevKvs[1].Value) != "a2" || r.Header.Revision != 7 {
		t.Errorf("a prefix: %v, %v", r, err)
	}
	r, err = c.Delete(ctx(t), "a", clientv3.WithPrefix())
	if err != nil || r.Deleted != 0 || r.Header.Revision != 7 {
		t.Errorf("nothing: %v, %v", r, err)
	}
	r, err = c.Delete(ctx(t), "b1")
	if err != nil || r.Deleted != 1 || r.Header.Revision != 8 {
		t.Errorf("a key: %v, %v", r, err)
	}
	r, err = c.Delete(ctx(t), "", clientv3.WithFromKey())
	if err != nil || r.Deleted != 2 {
		t.Errorf("all: %v, %v", r, err)
	}
}

func TestTxn(t *testing.T) {
	c, _ := serve(t)
	put(t, c, "a", "1")
	put(t, c, "a", "2")
	put(t, c, "b", "x")
	val, mod, create, ver := clientv3.Value, clientv3.ModRevision, clientv3.CreateRevision, clientv3.Version
	for _, test := range []struct {
		name string
		cmp  clientv3.Cmp
		want bool
	}{
		{"value", clientv3.Compare(val("a"), "=", "2"), true},
		{"value less", clientv3.Compare(val("a"), "<", "3"), true},
		{"value of nothing", clientv3.Compare(val("x"), "!=", "3"), false},
		{"mod", clientv3.Compare(mod("a"), "=", 3), true},
		{"mod wrong", clientv3.Compare(mod("a"), "=", 2), false},
		{"mod of nothing", clientv3.Compare(mod("x"), "=", 0), true},
		{"mod greater", clientv3.Compare(mod("a"), ">", 2), true},
		{"create", clientv3.Compare(create("a"), "=", 2), true},
		{"create of nothing", clientv3.Compare(create("x"), "=", 0), true},
		{"create of something", clientv3.Compare(create("a"), "=", 0), false},
		{"version", clientv3.Compare(ver("a"), "!=", 1), true},
		{"lease", clientv3.Compare(clientv3.LeaseValue("a"), "=", 0), true},
		{"range", clientv3.Compare(mod("a"), "<", 5).WithPrefix(), true},
		{"range with one that is not", clientv3.Compare(ver("a"), "=", 1).WithRange("c"), false},
		{"empty range", clientv3.Compare(ver("x"), "=", 0).WithPrefix(), true},
	} {
		r, err := c.Txn(ctx(t)).If(test.cmp).Then(clientv3.OpGet("a")).Else(clientv3.OpGet("b")).Commit()
		if err != nil || r.Succeeded != test.want || r.Header.Revision != 4 {
			t.Errorf("%s: %v, %v", test.name, r, err)
			continue
		}
		w, err := c.Txn(ctx(t)).If(test.cmp).Then(clientv3.OpPut("y", "then")).Else(clientv3.OpPut("z", "else")).Commit()
		if err != nil || w.Succeeded != test.want || w.Header.Revision != 5 {
			t.Errorf("%s, writing: %v, %v", test.name, w, err)
		}
		c, _ = serve(t)
		put(t, c, "a", "1")
		put(t, c, "a", "2")
		put(t, c, "b", "x")
	}
}

// TestTxnInside reads and writes alternately within one transaction.
func TestTxnInside(t *testing.T) {
	c, _ := serve(t)
	put(t, c, "a", "1")
	put(t, c, "b", "1")
	r, err := c.Txn(ctx(t)).If(clientv3.Compare(clientv3.Value("a"), "=", "1")).Then(
		clientv3.OpGet("", clientv3.WithFromKey()),
		clientv3.OpPut("a", "2", clientv3.WithPrevKV()),
		clientv3.OpGet("a"),
		clientv3.OpDelete("b", clientv3.WithPrevKV()),
		clientv3.OpTxn(
			[]clientv3.Cmp{clientv3.Compare(clientv3.Value("a"), "=", "1")}, // as before the transaction
			[]clientv3.Op{clientv3.OpPut("c", "1"), clientv3.OpGet("b")},
			[]clientv3.Op{clientv3.OpPut("c", "2")}),
		clientv3.OpGet("", clientv3.WithFromKey(), clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend)),
		clientv3.OpGet("a", clientv3.WithRev(2)),
		clientv3.OpDelete("b"),
	).Commit()
	if err != nil || !r.Succeeded || r.Header.Revision != 4 {
		t.Fatalf("%v, %v", r, err)
	}
	in := func(i int) *clientv3.GetResponse { return (*clientv3.GetResponse)(r.Responses[i].GetResponseRange()) }
	if g := in(0); keys(g) != "a b" || string(g.Kvs[0].Value) != "1" || g.Header.Revision != 3 {
		t.Errorf("before all: %v", g)
	}
	if p := r.Responses[1].GetResponsePut(); string(p.PrevKv.Value) != "1" || p.Header.Revision != 4 {
		t.Errorf("the put: %v", p)
	}
	if g := in(2); string(g.Kvs[0].Value) != "2" || g.Kvs[0].ModRevision != 4 || g.Kvs[0].Version != 2 || g.Kvs[0].CreateRevision != 2 {
		t.Errorf("after the put: %v", g)
	}
	if d := r.Responses[3].GetResponseDeleteRange(); d.Deleted != 1 || string(d.PrevKvs[0].Value) != "1" {
		t.Errorf("the deletion: %v", d)
	}
	n := r.Responses[4].GetResponseTxn()
	if !n.Succeeded || len(n.Responses[1].GetResponseRange().Kvs) != 0 {
		t.Errorf("the nested one: %v", n)
	}
	if g := in(5); keys(g) != "c a" || g.Count != 2 {
		t.Errorf("after all: %v", g)
	}
	if g := in(6); string(g.Kvs[0].Value) != "1" {
		t.Errorf("at a revision: %v", g)
	}
	if d := r.Responses[7].GetResponseDeleteRange(); d.Deleted != 0 {
		t.Errorf("the second deletion: %v", d)
	}
}

func TestTxnErrors(t *testing.T) {
	c, store := serve(t)
	put(t, c, "a", "1")
	many := make([]clientv3.Op, 129)
	for i := range many {
		many[i] = clientv3.OpGet("a")
	}
	for name, test := range map[string]struct {
		ops  []clientv3.Op
		want error
	}{
		"twice":              {[]clientv3.Op{clientv3.OpPut("a", ""), clientv3.OpPut("a", "")}, rpctypes.ErrDuplicateKey},
		"put and deleted":    {[]clientv3.Op{clientv3.OpPut("a", ""), clientv3.OpDelete("", clientv3.WithFromKey())}, rpctypes.ErrDuplicateKey},
		"twice, once nested": {[]clientv3.Op{clientv3.OpPut("a", ""), clientv3.OpTxn(nil, nil, []clientv3.Op{clientv3.OpPut("a", "")})}, rpctypes.ErrDuplicateKey},
		"too many":           {many, rpctypes.ErrTooManyOps},
		"no key":             {[]clientv3.Op{clientv3.OpGet("")}, rpctypes.ErrEmptyKey},
		"future":             {[]clientv3.Op{clientv3.OpPut("b", ""), clientv3.OpGet("a", clientv3.WithRev(99))}, rpctypes.ErrFutureRev},
		"no lease":           {[]clientv3.Op{clientv3.OpPut("b", ""), clientv3.OpPut("a", "", clientv3.WithLease(9))}, rpctypes.ErrLeaseNotFound},
		"no value to keep":   {[]clientv3.Op{clientv3.OpPut("a", ""), clientv3.OpPut("b", "", clientv3.WithIgnoreValue())}, rpctypes.ErrKeyNotFound},
	} {
		_, err := c.Txn(ctx(t)).Then(test.ops...).Commit()
		wantErr(t, name, err, test.want)
	}
	if store.Revision() != 2 {
		t.Errorf("something was written: revision %d", store.Revision())
	}
	// Only one of the two can happen.
	if _, err := c.Txn(ctx(t)).Then(clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpPut("a", "")}, []clientv3.Op{clientv3.OpPut("a", "")})).Commit(); err != nil {
		t.Errorf("either way: %v", err)
	}
}

// TestTxnContention increments one number from many goroutines on condition of its value, and moves
// keys on condition of a range.
func TestTxnContention(t *testing.T) {
	c, _ := serve(t)
	put(t, c, "n", "0")
	const writers, rounds = 6, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				for done := false; !done; {
					g, err := c.Get(ctx(t), "n")
					if err != nil {
						t.Error(err)
						return
					}
					var n int
					fmt.Sscan(string(g.Kvs[0].Value), &n)
					r, err := c.Txn(ctx(t)).If(clientv3.Compare(clientv3.Value("n"), "=", fmt.Sprint(n))).
						Then(clientv3.OpPut("n", fmt.Sprint(n+1)), clientv3.OpGet("n")).Else(clientv3.OpPut(fmt.Sprint("lost", w), "")).Commit()
					if err != nil {
						t.Error(err)
						return
					}
					if done = r.Succeeded; done && string(r.Responses[1].GetResponseRange().Kvs[0].Value) != fmt.Sprint(n+1) {
						t.Errorf("the transaction reads %v after it wrote %d", r.Responses[1], n+1)
					}
				}
				// No two may hold the room at once.
				r, err := c.Txn(ctx(t)).If(clientv3.Compare(clientv3.CreateRevision("room/"), "=", 0).WithPrefix()).
					Then(clientv3.OpPut(fmt.Sprint("room/", w), "")).Commit()
				if err != nil {
					t.Error(err)
					return
				}
				if r.Succeeded {
					g, err := c.Get(ctx(t), "room/", clientv3.WithPrefix())
					if err != nil || g.Count != 1 {
						t.Errorf("round %d: %v in the room, %v", i, keys(g), err)
					}
					if _, err := c.Delete(ctx(t), "room/", clientv3.WithPrefix()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	g, err := c.Get(ctx(t), "n")
	if err != nil || string(g.Kvs[0].Value) != fmt.Sprint(writers*rounds) {
		t.Errorf("the number is %v, %v", g, err)
	}
}
