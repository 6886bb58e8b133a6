package etcd_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
)

func put(t *testing.T, s storage.Store, key, value string) storage.Revision {
	t.Helper()
	res, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{{Key: key, Value: []byte(value)}}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Revision
}

func watch(t *testing.T, s storage.Store, start, end string, after storage.Revision) storage.Cursor {
	t.Helper()
	c, err := s.Watch(storage.WatchRequest{Start: start, End: end, After: after, Prev: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// readTo reads until progress is at rev or the cursor fails.
func readTo(t *testing.T, c storage.Cursor, rev storage.Revision) (events []storage.Event, err error) {
	t.Helper()
	deadline := time.After(patience)
	for {
		b, err := c.Next()
		if err != nil {
			return events, err
		}
		events = append(events, b.Events...)
		if b.Progress >= rev {
			return events, nil
		}
		c.Want(rev)
		select {
		case <-c.Bell():
		case <-deadline:
			t.Fatalf("progress is %d, want %d", b.Progress, rev)
		}
	}
}

// small is the buffer size of a slow cursor: about ten events.
const small = 4 << 10

// TestSlowCursor: a cursor that is read late has canceled its watch, and opens it again
// without a gap.
func TestSlowCursor(t *testing.T) {
	s := open(t, startMember(t), etcd.Options{Buffer: small})
	c := watch(t, s, "/", storage.NoEnd, 0)
	var last storage.Revision
	const n = 300
	for i := range n {
		last = put(t, s, "/k", fmt.Sprint(i))
	}
	events, err := readTo(t, c, last)
	if err != nil || len(events) != n {
		t.Fatalf("%d events, %v; want %d", len(events), err, n)
	}
	for i, e := range events {
		if string(e.KV.Value) != fmt.Sprint(i) {
			t.Fatalf("event %d is %s", i, e.KV.Value)
		}
	}
}

// TestSlowCursorIsOvertaken: a slow cursor fails if its next events have been compacted.
func TestSlowCursorIsOvertaken(t *testing.T) {
	s := open(t, startMember(t), etcd.Options{Buffer: small})
	c := watch(t, s, "/", storage.NoEnd, 0)
	var last storage.Revision
	const n = 300
	for i := range n {
		last = put(t, s, "/k", fmt.Sprint(i))
	}
	if err := s.Compact(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	events, err := readTo(t, c, last)
	if !errors.Is(err, storage.ErrCompacted) || len(events) >= n {
		t.Errorf("%d of %d events, %v; want ErrCompacted", len(events), n, err)
	}
	for i, e := range events {
		if string(e.KV.Value) != fmt.Sprint(i) || (e.Prev == nil) != (i == 0) {
			t.Fatalf("event %d is %s, before it was %+v", i, e.KV.Value, e.Prev)
		}
	}
}

// TestQuietCursorComesUp: other keys are written; a cursor without events still learns the revision
// of the log.
func TestQuietCursorComesUp(t *testing.T) {
	url := startMember(t)
	a, b := open(t, url, etcd.Options{}), open(t, url, etcd.Options{})
	c := watch(t, b, "/quiet/", "/quiet0", 0)
	empty := watch(t, b, "/z", "/a", 0)
	for range 20 {
		put(t, a, "/loud", "x")
		rev, err := b.Current(t.Context())
		if err != nil || rev != a.Revision() {
			t.Fatalf("Current is %d, %v; another has written %d", rev, err, a.Revision())
		}
		for _, c := range []storage.Cursor{c, empty} {
			if events, err := readTo(t, c, rev); err != nil || len(events) > 0 {
				t.Fatalf("%v, %v", events, err)
			}
		}
	}
}

// TestLargeTransaction: a cursor returns a transaction whole that etcd sends in fragments.
func TestLargeTransaction(t *testing.T) {
	s := open(t, startMember(t), etcd.Options{})
	c := watch(t, s, "/", storage.NoEnd, 0)
	var last storage.Revision
	for round := range 3 {
		var txn storage.Txn
		for i := range 100 {
			txn.Then = append(txn.Then, storage.Op{Key: fmt.Sprint("/", i), Value: []byte(strings.Repeat(fmt.Sprint(round), 14_000))})
		}
		res, err := s.Commit(t.Context(), txn)
		if err != nil {
			t.Fatal(err)
		}
		last = res.Revision
	}
	for seen, progress := 0, storage.Revision(0); progress < last; {
		b, err := c.Next()
		if err != nil || len(b.Events)%100 != 0 {
			t.Fatalf("%d events, %v", len(b.Events), err)
		}
		if seen, progress = seen+len(b.Events), b.Progress; progress == last && seen != 300 {
			t.Errorf("%d events", seen)
		}
		if progress < last {
			select {
			case <-c.Bell():
			case <-time.After(patience):
				t.Fatal("no bell")
			}
		}
	}
}

// TestSharedCompaction: processes that share a cluster compact it by themselves.
func TestSharedCompaction(t *testing.T) {
	url := startMember(t)
	o := etcd.Options{History: 100 * time.Millisecond}
	a, b := open(t, url, o), open(t, url, o)
	for deadline := time.Now().Add(patience); ; {
		rev := put(t, a, "/k", "x")
		_, err := b.Range(t.Context(), storage.RangeRequest{Start: "/k", Revision: 2})
		if errors.Is(err, storage.ErrCompacted) {
			// A store that opens now learns the compacted revision. The one that compacts writes it
			// to a key, which adds a revision.
			c := open(t, url, etcd.Options{History: -1}).Compacted()
			now, err := a.Current(t.Context())
			if err != nil || c < 2 || c > now {
				t.Errorf("compacted up to %d at revision %d: %v", c, now, err)
			}
			r, err := b.Range(t.Context(), storage.RangeRequest{Start: "/k"})
			if err != nil || len(r.KVs) != 1 || r.KVs[0].ModRevision != rev {
				t.Errorf("what was just written at %d: %+v, %v", rev, r.KVs, err)
			}
			return
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("not compacted: %v", err)
		}
	}
}

func TestPrefixIsAWall(t *testing.T) {
	url := startMember(t)
	all := open(t, url, etcd.Options{})
	s := open(t, url, etcd.Options{Root: "/registry/", Prefix: "/other/"})
	for _, key := range []string{"/othe", "/other", "/other0", "/registry/x", "\x00", "z"} {
		put(t, all, key, "x")
	}
	c := watch(t, s, "", storage.NoEnd, 1)
	rev := put(t, s, "/registry/pods/a", "x")
	put(t, all, "/z", "x")
	if kv, err := all.Range(t.Context(), storage.RangeRequest{Start: "/other/pods/a"}); err != nil || kv.Count != 1 {
		t.Errorf("the cluster has %+v, %v", kv, err)
	}
	r, err := s.Range(t.Context(), storage.RangeRequest{Start: "", End: storage.NoEnd})
	if err != nil || r.Count != 1 || r.KVs[0].Key != "/registry/pods/a" {
		t.Errorf("the store has %+v, %v", r, err)
	}
	events, err := readTo(t, c, rev)
	if err != nil || len(events) != 1 || events[0].KV.Key != "/registry/pods/a" {
		t.Errorf("the cursor saw %+v, %v", events, err)
	}
	_, err = s.Commit(t.Context(), storage.Txn{Then: []storage.Op{{Key: "/other/pods/a"}}})
	if !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("a write outside of the root: %v", err)
	}
	if _, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{{Type: storage.Delete, Key: "", End: storage.NoEnd}}}); err != nil {
		t.Fatal(err)
	}
	if left, err := all.Range(t.Context(), storage.RangeRequest{Start: "", End: storage.NoEnd}); err != nil || left.Count != 7 {
		t.Errorf("after deleting all of the store, the cluster has %+v, %v", left, err)
	}
}

// TestLongRange: a long range comes in several responses, all of one revision.
func TestLongRange(t *testing.T) {
	s := open(t, startMember(t), etcd.Options{})
	const n = 3500
	for from := 0; from < n; from += 100 {
		var txn storage.Txn
		for i := range 100 {
			txn.Then = append(txn.Then, storage.Op{Key: fmt.Sprintf("/%05d", from+i), Value: []byte("x")})
		}
		if _, err := s.Commit(t.Context(), txn); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int64{0, 1, 999, 1000, 1001, 2500, n, n + 1} {
		r, err := s.Range(t.Context(), storage.RangeRequest{Start: "/", End: "0", Limit: limit})
		want := int64(n)
		if limit > 0 {
			want = min(limit, n)
		}
		if err != nil || int64(len(r.KVs)) != want || r.Count != n || r.More != (want < n) {
			t.Errorf("limit %d: %d keys, count %d, more %v, %v", limit, len(r.KVs), r.Count, r.More, err)
		}
		for i, kv := range r.KVs {
			if kv.Key != fmt.Sprintf("/%05d", i) {
				t.Fatalf("limit %d: key %d is %s", limit, i, kv.Key)
			}
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	for timeout := 100 * time.Millisecond; ; timeout *= 2 {
		_, err := etcd.Open(t.Context(), etcd.Options{Endpoints: []string{"http://127.0.0.1:1"}, Timeout: timeout})
		if errors.Is(err, storage.ErrUnavailable) && strings.Contains(err.Error(), "connection refused") {
			break
		}
		if timeout > patience/4 { // else it may be too short to be refused in
			t.Fatalf("Open: %v", err)
		}
	}
	_, err := etcd.Open(t.Context(), etcd.Options{})
	if !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("Open of nothing: %v", err)
	}
}
