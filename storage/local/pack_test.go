package local

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/storage"
)

// TestPacked reads all of history once it is packed: by revision, and as events with their previous
// versions.
func TestPacked(t *testing.T) {
	ctx := context.Background()
	s, err := Open("", Options{InMemory: true, History: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const keys, rounds = 5, 400
	text := strings.Repeat("a line of what is always the same, ", 100)
	value := func(rev int) string { return fmt.Sprintf("%s%d%s%d", text[:rev%900], rev, text, rev*7) }
	want := map[storage.Revision]string{}
	for i := range keys * rounds {
		op := storage.Op{Type: storage.Put, Key: fmt.Sprint("/k", i%keys), Value: []byte(value(i))}
		if i%97 == 96 {
			op = storage.Op{Type: storage.Delete, Key: op.Key}
		}
		res, err := s.Commit(ctx, storage.Txn{Then: []storage.Op{op}})
		if err != nil {
			t.Fatal(err)
		}
		want[res.Revision] = op.Key + "=" + string(op.Value)
	}
	(&packer{published: &s.published}).pass()

	held, whole := 0, 0
	log := s.published.state.Load().log
	for seq := log.First; seq < log.End; seq++ {
		v := log.At(seq)
		held, whole = held+len(v.KV().Value), whole+v.ValueSize()
	}
	if held > whole/3 {
		t.Errorf("%d bytes hold %d, want a third at most", held, whole)
	}

	c, err := s.Watch(storage.WatchRequest{Start: "/", End: "0", After: 1, Prev: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before := map[string]string{}
	for len(want) > 0 {
		b, err := c.Next()
		if err != nil || len(b.Events) == 0 {
			t.Fatalf("%d events are missing: %v", len(want), err)
		}
		for _, e := range b.Events {
			rev, key := e.Revision(), e.KV.Key
			if got := key + "=" + string(e.KV.Value); got != want[rev] {
				t.Fatalf("event %d is %.60q, want %.60q", rev, got, want[rev])
			}
			prev := ""
			if e.Prev != nil {
				prev = string(e.Prev.Value)
			}
			if prev != before[key] {
				t.Fatalf("before %d there was %.60q, want %.60q", rev, prev, before[key])
			}
			before[key] = string(e.KV.Value)
			delete(want, rev)
			if e.Type == storage.Delete {
				continue
			}
			r, err := s.Range(ctx, storage.RangeRequest{Start: key, Revision: rev})
			if err != nil || len(r.KVs) != 1 || string(r.KVs[0].Value) != string(e.KV.Value) {
				t.Fatalf("%s at %d: %v %v", key, rev, r, err)
			}
		}
	}
}
