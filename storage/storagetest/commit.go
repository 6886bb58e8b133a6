package storagetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/storage"
)

func testEmpty(t *testing.T, s storage.Store) {
	if r, c := s.Revision(), s.Compacted(); r != 1 || c != 0 {
		t.Errorf("an empty store is at revision %d, compacted %d; want 1, 0", r, c)
	}
	res := rangeOf(t, s, storage.RangeRequest{Start: "/", End: "0"})
	if len(res.KVs) != 0 || res.Count != 0 || res.More || res.Revision != 1 {
		t.Errorf("an empty store has %+v", res)
	}
	rangeOf(t, s, storage.RangeRequest{Start: "/a", Revision: 1})
	b, err := watchAll(t, s, 0).Next()
	if err != nil || len(b.Events) != 0 || b.Progress != 1 {
		t.Errorf("an empty store's cursor yields %+v, %v", b, err)
	}
}

func testRevisions(t *testing.T, s storage.Store) {
	for i := range 5 {
		if r := commit(t, s, put("/a", "x"), put(fmt.Sprint("/b", i), "x")); r != storage.Revision(2+i) {
			t.Fatalf("commit %d got revision %d, want %d", i, r, 2+i)
		}
	}
	if s.Revision() != 6 {
		t.Errorf("Revision is %d, want 6", s.Revision())
	}
	want(t, get(t, s, "/a", 0), storage.KeyValue{Key: "/a", Value: []byte("x"), CreateRevision: 2, ModRevision: 6, Version: 5})
	want(t, get(t, s, "/b3", 0), storage.KeyValue{Key: "/b3", Value: []byte("x"), CreateRevision: 5, ModRevision: 5, Version: 1})

	if r := commit(t, s, del("/a")); r != 7 {
		t.Errorf("the deletion got revision %d, want 7", r)
	}
	if kv := get(t, s, "/a", 0); kv != nil {
		t.Errorf("a deleted key is %+v", kv)
	}
	commit(t, s, put("/a", "again"))
	want(t, get(t, s, "/a", 0), storage.KeyValue{Key: "/a", Value: []byte("again"), CreateRevision: 8, ModRevision: 8, Version: 1})
}

func testNoChange(t *testing.T, s storage.Store) {
	for _, ops := range [][]storage.Op{nil, {del("/a")}, {del("/a"), del("/b")}} {
		if r := commit(t, s, ops...); r != 1 {
			t.Errorf("%v got revision %d, want none and so 1", ops, r)
		}
	}
	if s.Revision() != 1 {
		t.Errorf("Revision is %d, want 1", s.Revision())
	}
	for _, op := range []storage.Op{del("/a"), put("/x", ""), del("/x"), del("/x")} {
		before := s.Revision()
		res, err := s.Commit(ctx(t), storage.Txn{Then: []storage.Op{op}})
		if err != nil || res.Changed != (res.Revision > before) {
			t.Errorf("%+v at %d: %+v, %v", op, before, res, err)
		}
	}
	if r := commit(t, s, del("/a"), put("/b", "x")); r != 4 {
		t.Errorf("a put beside a vain deletion got revision %d, want 2", r)
	}
	if events := read(t, watchAll(t, s, 3), 4); len(events) != 1 {
		t.Errorf("events %v, want only the put", events)
	}
}

func testConditions(t *testing.T, s storage.Store) {
	a := commit(t, s, put("/a", "1"))
	for _, test := range []struct {
		name  string
		conds []storage.Condition
		holds bool
	}{
		{"absent key is absent", []storage.Condition{at("/b", 0)}, true},
		{"present key is absent", []storage.Condition{at("/a", 0)}, false},
		{"present key at its revision", []storage.Condition{at("/a", a)}, true},
		{"present key at another", []storage.Condition{at("/a", a+1)}, false},
		{"absent key at a revision", []storage.Condition{at("/b", a)}, false},
		{"both hold", []storage.Condition{at("/a", a), at("/b", 0)}, true},
		{"the second fails", []storage.Condition{at("/a", a), at("/b", 1)}, false},
		{"the first fails", []storage.Condition{at("/a", 1), at("/b", 0)}, false},
	} {
		before := s.Revision()
		res, err := s.Commit(ctx(t), storage.Txn{If: test.conds, Then: []storage.Op{put("/c", test.name)}})
		if err != nil || res.Succeeded != test.holds {
			t.Errorf("%s: %+v, %v", test.name, res, err)
			continue
		}
		if test.holds {
			if res.Revision != before+1 || !res.Changed || res.Current != nil {
				t.Errorf("%s: %+v, want revision %d and no current", test.name, res, before+1)
			}
			continue
		}
		if res.Revision != before || res.Changed || s.Revision() != before || len(res.Current) != len(test.conds) {
			t.Fatalf("%s: %+v, want revision %d and what the keys hold", test.name, res, before)
		}
		for i, c := range test.conds {
			if c.Key == "/b" && res.Current[i] != nil || c.Key == "/a" && (res.Current[i] == nil || res.Current[i].ModRevision != a) {
				t.Errorf("%s: current of %s is %+v", test.name, c.Key, res.Current[i])
			}
		}
	}
	// A deleted key is as absent as one that never was.
	commit(t, s, del("/a"))
	if res, err := s.Commit(ctx(t), storage.Txn{If: []storage.Condition{at("/a", 0)}, Then: []storage.Op{put("/a", "2")}}); err != nil || !res.Succeeded {
		t.Errorf("creating after deletion: %+v, %v", res, err)
	}
}

func testInvalid(t *testing.T, s storage.Store) {
	many := make([]storage.Op, 0, 41)
	for i := range 40 {
		many = append(many, put(fmt.Sprint("/", i), ""))
	}
	for name, txn := range map[string]storage.Txn{
		"one key twice":        {Then: []storage.Op{put("/a", ""), del("/a")}},
		"one of many twice":    {Then: append(many, put("/20", ""))},
		"no key":               {Then: []storage.Op{put("", "")}},
		"put of a range":       {Then: []storage.Op{{Key: "/a", End: "/b"}}},
		"put of a key deleted": {Then: []storage.Op{put("/b", ""), {Type: storage.Delete, Key: "/a", End: "/c"}}},
		"a range at nothing":   {If: []storage.Condition{{Key: "/a", End: "/b"}}},
		"condition on no key":  {If: []storage.Condition{at("", 0)}},
		"negative revision":    {If: []storage.Condition{at("/a", -1)}},
		"op of no known type":  {Then: []storage.Op{{Type: 9, Key: "/a"}}},
		"good op beside a bad": {Then: []storage.Op{put("/a", ""), put("", "")}},
	} {
		_, err := s.Commit(ctx(t), txn)
		wantErr(t, name, err, storage.ErrInvalid)
	}
	if s.Revision() != 1 {
		t.Errorf("something was written: revision %d", s.Revision())
	}
}

func testTooLarge(t *testing.T, s storage.Store) {
	half := strings.Repeat("x", storage.MinTxnBytes/2-8)
	commit(t, s, put("/a", half), put("/b", half))
	for name, size := range map[string]int{"a little": 4 << 20, "by far": 64 << 20} {
		_, err := s.Commit(ctx(t), storage.Txn{Then: []storage.Op{put("/a", strings.Repeat("x", size)), del("/b")}})
		wantErr(t, name+" too large", err, storage.ErrTooLarge)
	}
	if s.Revision() != 2 {
		t.Errorf("something was written: revision %d", s.Revision())
	}
}

func testCancelled(t *testing.T, s storage.Store) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Commit(done, storage.Txn{Then: []storage.Op{put("/a", "")}})
	wantErr(t, "Commit with a cancelled context", err, context.Canceled)
	_, err = s.Range(done, storage.RangeRequest{Start: "/a"})
	wantErr(t, "Range with a cancelled context", err, context.Canceled)
}

// testOneWinner has many goroutines read and write one counter on condition: every increment must
// be there in the end.
func testOneWinner(t *testing.T, s storage.Store) {
	const writers, rounds = 8, 25
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range rounds {
				var n int
				var rev storage.Revision
				if kv := get(t, s, "/n", 0); kv != nil {
					fmt.Sscan(string(kv.Value), &n)
					rev = kv.ModRevision
				}
				for {
					res, err := s.Commit(ctx(t), storage.Txn{
						If:   []storage.Condition{at("/n", rev)},
						Then: []storage.Op{put("/n", fmt.Sprint(n+1))},
					})
					if err != nil {
						t.Error(err)
						return
					}
					if res.Succeeded {
						break
					}
					fmt.Sscan(string(res.Current[0].Value), &n)
					rev = res.Current[0].ModRevision
				}
			}
		})
	}
	wg.Wait()
	kv := get(t, s, "/n", 0)
	if kv == nil || string(kv.Value) != fmt.Sprint(writers*rounds) || kv.Version != writers*rounds {
		t.Errorf("the counter is %+v, want %d", kv, writers*rounds)
	}
	if s.Revision() != 1+writers*rounds {
		t.Errorf("revision %d: failed conditions took some", s.Revision())
	}
}

func at(key string, r storage.Revision) storage.Condition {
	return storage.Condition{Key: key, ModRevision: r}
}

func want(t testing.TB, got *storage.KeyValue, want storage.KeyValue) {
	t.Helper()
	if got == nil || !sameKV(got, &want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func sameKV(a, b *storage.KeyValue) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Key == b.Key && string(a.Value) == string(b.Value) && a.CreateRevision == b.CreateRevision &&
		a.ModRevision == b.ModRevision && a.Version == b.Version && a.Lease == b.Lease
}
