package local

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/internal/delta"
	"fairlead.dev/internal/storage/mvcc"
	"fairlead.dev/storage"
)

// TestSettled checks that keys that have not changed for a while, in the log or loaded from the disk, are held as
// differences to similar ones, and are read, replaced and deleted as others.
func TestSettled(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	text := strings.Repeat("a line of what is always the same, ", 60)
	value := func(i, n int) string { return fmt.Sprintf("%s%d%s%d", text, i, text[:i%700], n*n) }
	const keys = mvcc.Unsettled + 2*packStep
	want := map[string]string{}
	var s *Store
	open := func() {
		var err error
		if s, err = Open(dir, Options{History: -1}); err != nil {
			t.Fatal(err)
		}
	}
	put := func(i, n int) {
		key := fmt.Sprint("/pods/web-", i)
		want[key] = value(i, n)
		if _, err := s.Commit(ctx, storage.Txn{Then: []storage.Op{{Type: storage.Put, Key: key, Value: []byte(want[key])}}}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(least int) {
		t.Helper()
		(&packer{published: &s.published, scanning: true}).pass()
		r, err := s.Range(ctx, storage.RangeRequest{Start: "/pods/", End: storage.NoEnd})
		if err != nil || len(r.KVs) != len(want) {
			t.Fatalf("%d keys, want %d: %v", len(r.KVs), len(want), err)
		}
		tree, packed := s.published.state.Load().tree, 0
		for _, kv := range r.KVs {
			if string(kv.Value) != want[kv.Key] {
				t.Fatalf("%s is %.60q, want %.60q", kv.Key, kv.Value, want[kv.Key])
			}
			e, _ := tree.Get(kv.Key)
			if v := e.Head.Load(); v.ValueSize() != len(kv.Value) {
				t.Fatalf("%s has the size %d, want %d", kv.Key, v.ValueSize(), len(kv.Value))
			} else if len(v.KV().Value) < len(kv.Value)/4 {
				packed++
			}
		}
		if packed < least {
			t.Errorf("%d keys are packed, want %d", packed, least)
		}
	}
	open()
	for i := range keys {
		put(i, i)
	}
	check(packStep)
	checkFork(t, s, want, packStep)
	for i := range packStep {
		put(i, i+1)
	}
	if _, err := s.Commit(ctx, storage.Txn{Then: []storage.Op{{Type: storage.Delete, Key: "/pods/web-7"}}}); err != nil {
		t.Fatal(err)
	}
	delete(want, "/pods/web-7")
	check(packStep)
	if err := s.Compact(ctx, s.Revision()); err != nil {
		t.Fatal(err)
	}
	check(packStep)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open()
	defer s.Close()
	check(keys - 10) // the log is compacted, and a few keys are bases
	if size := s.published.state.Load().live; size.Keys != int64(len(want)) || size.Bytes != bytesOf(want) {
		t.Errorf("the store counts %+v, want %d keys of %d bytes", size, len(want), bytesOf(want))
	}
}

func bytesOf(values map[string]string) (n int64) {
	for key, value := range values {
		n += int64(len(key) + len(value))
	}
	return n
}

// TestSettledAfterCompaction checks that keys are packed whose events were removed from the log before the packer came to
// them.
func TestSettledAfterCompaction(t *testing.T) {
	s, err := Open("", Options{InMemory: true, History: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := strings.Repeat("a line of a template, ", 30)
	for n := range 500 {
		op := storage.Op{Type: storage.Put, Key: fmt.Sprint("/pods/web-", n), Value: fmt.Append([]byte(text), n)}
		if _, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	p := &packer{published: &s.published}
	p.pass()
	if err := s.Compact(t.Context(), s.Revision()); err != nil {
		t.Fatal(err)
	}
	p.pass()
	packed := 0
	s.published.state.Load().tree.Scan(func(_ string, e *mvcc.Entry) bool {
		if len(e.Head.Load().KV().Value) < len(text)/4 {
			packed++
		}
		return true
	})
	if packed < 490 { // the others are bases
		t.Errorf("%d of 500 keys are packed", packed)
	}
}

// TestSettledDuringWrites packs while keys are replaced and read.
func TestSettledDuringWrites(t *testing.T) {
	s, err := Open("", Options{InMemory: true, History: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := strings.Repeat("a line of what is always the same, ", 30)
	for n := range 3 * mvcc.Unsettled {
		key := fmt.Sprint("/pods/web-", n%1000)
		if n%17 == 0 {
			key = fmt.Sprint("/pods/web-", n%10)
		}
		if _, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{{Type: storage.Put, Key: key, Value: fmt.Append([]byte(text), key, n)}}}); err != nil {
			t.Fatal(err)
		}
		if n%100 != 0 {
			continue
		}
		r, err := s.Range(t.Context(), storage.RangeRequest{Start: "/pods/", End: storage.NoEnd})
		if err != nil || slices.ContainsFunc(r.KVs, func(kv *storage.KeyValue) bool { return !strings.HasPrefix(string(kv.Value), text+kv.Key) }) {
			t.Fatalf("a key has the value of another one, or %v", err)
		}
	}
}

// checkFork checks that a fork has the same values, and shares at least so many that are packed.
func checkFork(t *testing.T, s *Store, want map[string]string, least int) {
	t.Helper()
	f, err := s.Fork(t.Context(), 0, ForkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shared := 0
	f.published.state.Load().tree.Scan(func(key string, e *mvcc.Entry) bool {
		v := e.Head.Load()
		if got := string(v.Live().Value); got != want[key] {
			t.Errorf("the fork has %.60q at %s, want %.60q", got, key, want[key])
		}
		if len(v.KV().Value) < v.ValueSize()/4 {
			shared++
		}
		return true
	})
	if shared < least {
		t.Errorf("the fork shares %d packed values, want %d", shared, least)
	}
}

// TestPackForReader checks that a reader that keeps keys gets them as the store holds them from then on: as the difference
// to another key if that is smaller, and none for a key that has changed.
func TestPackForReader(t *testing.T) {
	s, err := Open("", Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var packer storage.Packer = s
	text := strings.Repeat("a line of what is always the same, ", 60)
	commit := func(op storage.Op) storage.Revision {
		t.Helper()
		r, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{op}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Revision
	}
	var last *storage.Packed
	for i := range 20 {
		key, value := fmt.Sprint("/pods/web-", i), fmt.Sprint(text, i)
		rev := commit(storage.Op{Type: storage.Put, Key: key, Value: []byte(value)})
		p := packer.Pack(key, rev)
		if p == nil || p.KV.Key != key || p.KV.ModRevision != rev || (p.Base == nil) != (i == 0) {
			t.Fatalf("%s is held as %+v", key, p)
		}
		got := string(p.KV.Value)
		if p.Base != nil {
			restored, err := delta.Apply(p.Base.Value, p.KV.Value)
			if got = string(restored); err != nil || len(p.KV.Value) > len(value)/4 {
				t.Errorf("%s: a difference of %d bytes, %v", key, len(p.KV.Value), err)
			}
		}
		if got != value {
			t.Errorf("%s is %.50q, want %.50q", key, got, value)
		}
		if again := packer.Pack(key, rev); p.Base != nil && (again.KV != p.KV || again.Base != p.Base) {
			t.Errorf("%s has other memory when it is asked for again", key)
		}
		if packer.Pack(key, rev-1) != nil {
			t.Errorf("%s is held at a former revision", key)
		}
		last = p
	}
	rev := commit(storage.Op{Type: storage.Delete, Key: last.KV.Key})
	if packer.Pack(last.KV.Key, rev) != nil || packer.Pack(last.KV.Key, last.KV.ModRevision) != nil || packer.Pack("/pods/none", rev) != nil {
		t.Error("a key that does not exist is held")
	}
}

// TestRangePacked checks that a reader that loads all keys gets them as of the revision it asks for, without the keys before
// and after the range, and most of them as the differences that the store holds.
func TestRangePacked(t *testing.T) {
	s, err := Open("", Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := strings.Repeat("a line of what is always the same, ", 60)
	write := func(op storage.Op) storage.Revision {
		t.Helper()
		r, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{op}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Revision
	}
	put := func(key, value string) storage.Revision {
		return write(storage.Op{Type: storage.Put, Key: key, Value: []byte(text + value)})
	}
	for _, other := range []string{"/a/1", "/podsets/1", "/q/1"} {
		put(other, "")
	}
	var middle storage.Revision
	for i := range 20 {
		key := fmt.Sprintf("/pods/web-%02d", i)
		middle = put(key, "first")
		s.Pack(key, middle)
	}
	for i := range 7 {
		key := fmt.Sprintf("/pods/web-%02d", i*2)
		s.Pack(key, put(key, "second"))
	}
	last := write(storage.Op{Type: storage.Delete, Key: "/pods/web-01"})
	for _, c := range []struct {
		at     storage.Revision
		packed int // at least
	}{{last, 15}, {middle, 0}} {
		want, err := s.Range(t.Context(), storage.RangeRequest{Start: "/pods/", End: "/pods0", Revision: c.at})
		if err != nil {
			t.Fatal(err)
		}
		var got []*storage.KeyValue
		packed := 0
		err = s.RangePacked(t.Context(), "/pods/", "/pods0", c.at, func(p *storage.Packed) {
			kv := *p.KV
			if p.Base != nil {
				packed++
				if kv.Value, err = delta.Apply(p.Base.Value, kv.Value); err != nil {
					t.Fatal(err)
				}
			}
			got = append(got, &kv)
		})
		if err != nil || !reflect.DeepEqual(got, want.KVs) {
			t.Errorf("at %d: %d keys, %v; want %d", c.at, len(got), err, len(want.KVs))
		}
		if packed < c.packed {
			t.Errorf("at %d: %d keys are packed, want %d", c.at, packed, c.packed)
		}
	}
	if err := s.Compact(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if err := s.RangePacked(t.Context(), "/pods/", "/pods0", middle, func(*storage.Packed) {}); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("a compacted revision is read: %v", err)
	}
}
