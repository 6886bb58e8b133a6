package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"fairlead.dev/storage"
)

func grant(t testing.TB, s storage.Store, id storage.LeaseID, ttl time.Duration) storage.Lease {
	t.Helper()
	l, err := s.Grant(ctx(t), id, ttl)
	if err != nil {
		t.Fatalf("Grant(%d, %v): %v", id, ttl, err)
	}
	return l
}

func leased(key string, id storage.LeaseID) storage.Op {
	return storage.Op{Key: key, Value: []byte("x"), Lease: id}
}

func leaseKeys(t testing.TB, s storage.Store, id storage.LeaseID) []string {
	t.Helper()
	l, err := s.Lease(ctx(t), id)
	if err != nil {
		t.Fatalf("Lease(%d): %v", id, err)
	}
	return l.Keys
}

func testLease(t *testing.T, s storage.Store) {
	l := grant(t, s, 7, 90500*time.Millisecond)
	if l.ID != 7 || l.TTL < 91*time.Second || l.TTL%time.Second != 0 || l.Remaining > l.TTL || l.Remaining < l.TTL/2 {
		t.Errorf("granted %+v", l)
	}
	chosen := grant(t, s, 0, time.Hour)
	if chosen.ID <= 0 || chosen.ID == 7 {
		t.Errorf("the store chose %+v", chosen)
	}
	if s.Revision() != 1 {
		t.Errorf("a grant took a revision: %d", s.Revision())
	}
	commit(t, s, leased("/a", 7))
	want(t, get(t, s, "/a", 0), storage.KeyValue{Key: "/a", Value: []byte("x"), CreateRevision: 2, ModRevision: 2, Version: 1, Lease: 7})
	ids, err := s.Leases(ctx(t))
	all := []storage.LeaseID{7, chosen.ID}
	slices.Sort(all)
	slices.Sort(ids)
	if err != nil || !slices.Equal(ids, all) {
		t.Errorf("Leases: %v, %v; want %v", ids, err, all)
	}
	kept, err := s.KeepAlive(ctx(t), 7)
	if err != nil || kept.TTL != l.TTL || kept.Remaining > l.TTL || kept.Remaining < l.TTL/2 {
		t.Errorf("KeepAlive: %+v, %v", kept, err)
	}
}

func testLeaseErrors(t *testing.T, s storage.Store) {
	grant(t, s, 7, time.Hour)
	_, err := s.Grant(ctx(t), 7, time.Hour)
	wantErr(t, "Grant of one that exists", err, storage.ErrLeaseExists)
	for _, ttl := range []time.Duration{0, -time.Second, storage.MaxTTL + 1} {
		_, err = s.Grant(ctx(t), 8, ttl)
		wantErr(t, fmt.Sprint("Grant with a TTL of ", ttl), err, storage.ErrInvalid)
	}
	_, err = s.KeepAlive(ctx(t), 8)
	wantErr(t, "KeepAlive", err, storage.ErrLeaseNotFound)
	_, err = s.Lease(ctx(t), 8)
	wantErr(t, "Lease", err, storage.ErrLeaseNotFound)
	wantErr(t, "Revoke", s.Revoke(ctx(t), 8), storage.ErrLeaseNotFound)
	_, err = s.Commit(ctx(t), storage.Txn{Then: []storage.Op{put("/a", ""), leased("/b", 8)}})
	wantErr(t, "Commit", err, storage.ErrLeaseNotFound)
	// A put that is not executed needs no lease.
	res, err := s.Commit(ctx(t), storage.Txn{If: []storage.Condition{at("/a", 5)}, Then: []storage.Op{leased("/b", 8)}})
	if err != nil || res.Succeeded {
		t.Errorf("a condition that does not hold: %+v, %v", res, err)
	}
	if s.Revision() != 1 {
		t.Errorf("something was written: revision %d", s.Revision())
	}
}

func testLeaseKeys(t *testing.T, s storage.Store) {
	grant(t, s, 7, time.Hour)
	grant(t, s, 8, time.Hour)
	commit(t, s, leased("/a", 7), leased("/b", 7), leased("/c", 7), leased("/d", 7), put("/e", "x"))
	commit(t, s, leased("/c", 8), put("/b", "free"), del("/d"))
	if got := leaseKeys(t, s, 7); !slices.Equal(got, []string{"/a"}) {
		t.Errorf("the first has %v", got)
	}
	commit(t, s, leased("/d", 7))
	if got := leaseKeys(t, s, 7); !slices.Equal(got, []string{"/a", "/d"}) {
		t.Errorf("the first has %v", got)
	}
	if got := leaseKeys(t, s, 8); !slices.Equal(got, []string{"/c"}) {
		t.Errorf("the second has %v", got)
	}
	c := watchAll(t, s, 0)
	if err := s.Revoke(ctx(t), 7); err != nil {
		t.Fatal(err)
	}
	events := read(t, c, 5)
	if len(events) != 2 || events[0].Type != storage.Delete || events[0].KV.Key != "/a" || events[1].KV.Key != "/d" ||
		events[0].Revision() != 5 || events[1].Revision() != 5 || events[0].Prev.Lease != 7 {
		t.Errorf("the watcher saw %s", story(events))
	}
	for key, there := range map[string]bool{"/a": false, "/b": true, "/c": true, "/d": false, "/e": true} {
		if got := get(t, s, key, 0) != nil; got != there {
			t.Errorf("%s is there: %v, want %v", key, got, there)
		}
	}
	if err := s.Revoke(ctx(t), 7); err == nil {
		t.Error("revoked twice")
	}
	commit(t, s, del("/c"))
	if err := s.Revoke(ctx(t), 8); err != nil || s.Revision() != 6 {
		t.Errorf("revoking a lease without keys: revision %d, %v", s.Revision(), err)
	}
}

// longestTry is the TTL up to which a test of a short lease tries again, twice as long each time,
// if the machine stood still for longer than the lease could live.
const longestTry = 16 * time.Second

// testLeaseExpires waits for a short lease to end by itself.
func testLeaseExpires(t *testing.T, s storage.Store) {
	long := grant(t, s, 1, time.Hour)
	short := storage.LeaseID(7)
	var written storage.Revision
	for ttl := time.Second; ; ttl *= 2 {
		grant(t, s, short, ttl)
		res, err := s.Commit(ctx(t), storage.Txn{Then: []storage.Op{leased("/a", short), leased("/b", short), leased("/c", long.ID)}})
		if err == nil {
			written = res.Revision
			break
		}
		if !errors.Is(err, storage.ErrLeaseNotFound) || ttl == longestTry {
			t.Fatalf("Commit under a lease of %v: %v", ttl, err)
		}
		short++ // it was over before it was used
	}
	events := read(t, watchAll(t, s, written), written+1)
	if len(events) != 2 || events[0].Type != storage.Delete || events[0].KV.Key != "/a" || events[1].KV.Key != "/b" {
		t.Errorf("the watcher saw %s", story(events))
	}
	_, err := s.Lease(ctx(t), short)
	wantErr(t, "Lease", err, storage.ErrLeaseNotFound)
	if got := leaseKeys(t, s, long.ID); !slices.Equal(got, []string{"/c"}) {
		t.Errorf("the other has %v", got)
	}
}

// testLeaseKeptAlive keeps a lease alive for longer than its TTL, which a second one of the same
// TTL measures.
func testLeaseKeptAlive(t *testing.T, s storage.Store) {
	for ttl := time.Second; !keepAlive(t, s, ttl); ttl *= 2 {
		if ttl == longestTry {
			t.Fatalf("no lease could be renewed in time, not even one of %v", ttl)
		}
	}
}

// keepAlive renews one of two leases of the TTL until the other has ended. It returns false if more
// than half the TTL passed between two renewals: then either may have ended, and the try is
// inconclusive.
func keepAlive(t *testing.T, s storage.Store, ttl time.Duration) bool {
	t.Helper()
	renewed := time.Now()
	lost := func(err error) bool {
		if err != nil && !errors.Is(err, storage.ErrLeaseNotFound) {
			t.Fatal(err)
		}
		late := time.Since(renewed) > ttl/2
		if err != nil && !late {
			t.Fatalf("%v after its renewal a lease of %v is gone", time.Since(renewed), ttl)
		}
		return late
	}
	kept, left := grant(t, s, 0, ttl), grant(t, s, 0, ttl)
	c := watchAll(t, s, s.Revision())
	keys := []string{fmt.Sprintf("/kept/%d", kept.ID), fmt.Sprintf("/left/%d", left.ID)}
	_, err := s.Commit(ctx(t), storage.Txn{Then: []storage.Op{leased(keys[0], kept.ID), leased(keys[1], left.ID)}})
	if lost(err) {
		return false
	}
	for deadline := time.After(patience + ttl); ; {
		now := time.Now()
		if _, err := s.KeepAlive(ctx(t), kept.ID); lost(err) {
			return false
		}
		renewed = now
		b, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(b.Events, func(e storage.Event) bool { return e.Type == storage.Delete && slices.Contains(keys, e.KV.Key) })
		if i >= 0 {
			still, err := s.Lease(ctx(t), kept.ID)
			if lost(err) {
				return false
			}
			if b.Events[i].KV.Key != keys[1] || !slices.Equal(still.Keys, keys[:1]) {
				t.Errorf("the watcher saw %s, and the lease that was kept has %v", story(b.Events), still.Keys)
			}
			return true
		}
		select {
		case <-c.Bell():
		case <-time.After(100 * time.Millisecond):
		case <-deadline:
			t.Fatal("no lease ended")
		}
	}
}

func testDeleteRange(t *testing.T, s storage.Store) {
	commit(t, s, put("/a/1", ""), put("/a/2", ""), put("/b/1", ""), put("/c/1", ""))
	c := watchAll(t, s, 0)
	// Deletions may overlap, and stand beside puts elsewhere.
	r := commit(t, s, storage.Op{Type: storage.Delete, Key: "/a/", End: "/a0"}, del("/a/2"),
		storage.Op{Type: storage.Delete, Key: "/a/2", End: "/b/1"}, put("/d/1", ""))
	events := read(t, c, r)
	if len(events) != 3 || events[0].KV.Key != "/a/1" || events[1].KV.Key != "/a/2" || events[2].Type != storage.Put {
		t.Errorf("the watcher saw %s", story(events))
	}
	if r != 3 {
		t.Errorf("revision %d, want 3", r)
	}
	commit(t, s, storage.Op{Type: storage.Delete, Key: "/c", End: storage.NoEnd})
	res := rangeOf(t, s, storage.RangeRequest{Start: "/", End: storage.NoEnd})
	if len(res.KVs) != 1 || res.KVs[0].Key != "/b/1" {
		t.Errorf("left are %+v", res.KVs)
	}
	if r := commit(t, s, storage.Op{Type: storage.Delete, Key: "/x", End: "/y"}); r != 4 {
		t.Errorf("deleting nothing got revision %d", r)
	}
}

func testRangeCondition(t *testing.T, s storage.Store) {
	commit(t, s, put("/a/1", ""), put("/a/2", ""), put("/b/1", ""))
	commit(t, s, put("/b/1", ""))
	try := func(start, end string, r storage.Revision, holds bool) {
		t.Helper()
		before := s.Revision()
		res, err := s.Commit(ctx(t), storage.Txn{
			If:   []storage.Condition{{Key: start, End: end, ModRevision: r}, at("/no", 0)},
			Then: []storage.Op{put("/z", "")},
		})
		if err != nil || res.Succeeded != holds {
			t.Errorf("[%q, %q) as at %d: %+v, %v; want %v", start, end, r, res, err, holds)
		} else if !holds && (res.Revision != before || len(res.Current) != 2 || res.Current[0] != nil) {
			t.Errorf("[%q, %q) as at %d: %+v", start, end, r, res)
		}
	}
	try("/a/", "/a0", 2, true)
	try("/a/", "/b0", 2, false)
	try("/a/", "/b0", 3, true)
	try("/b/1", storage.NoEnd, 3, false) // /z
	try("/c/", "/c0", 1, true)
	gone := commit(t, s, del("/a/2"))
	try("/a/", "/a0", gone-1, false)
	try("/a/", "/a0", gone, true)
	if err := s.Compact(ctx(t), s.Revision()); err != nil {
		t.Fatal(err)
	}
	try("/a/", "/a0", s.Revision(), true)
	_, err := s.Commit(ctx(t), storage.Txn{If: []storage.Condition{{Key: "/a/", End: "/a0", ModRevision: gone - 1}}})
	if err == nil {
		t.Error("a condition on what is compacted was taken to hold or not")
	}
}
