// Package storagetest tests every storage.Store against the contract.
//
// Run is the suite: one test per promise of the contract, each on a fresh store.
// Model plays a long random game against a store and a simple model of it, and
// compares the two after every move.
package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"fairlead.dev/storage"
)

// Open returns a fresh, empty store. The suite closes it.
type Open func(t testing.TB) storage.Store

// Run runs the conformance suite.
func Run(t *testing.T, open Open) { run(t, open, false) }

// RunRemote is Run for a store whose cursors are fed over a network: they may show a write some
// time after its commit has returned, and may deliver events that were compacted in the meantime.
func RunRemote(t *testing.T, open Open) { run(t, open, true) }

func run(t *testing.T, open Open, remote bool) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, storage.Store)
	}{
		{"Empty", testEmpty},
		{"Revisions", testRevisions},
		{"NoChangeNoRevision", testNoChange},
		{"Conditions", testConditions},
		{"DeleteRange", testDeleteRange},
		{"RangeCondition", testRangeCondition},
		{"Lease", testLease},
		{"LeaseErrors", testLeaseErrors},
		{"LeaseKeys", testLeaseKeys},
		{"LeaseExpires", testLeaseExpires},
		{"LeaseKeptAlive", testLeaseKeptAlive},
		{"Invalid", testInvalid},
		{"TooLarge", testTooLarge},
		{"Cancelled", testCancelled},
		{"OneWinner", testOneWinner},
		{"Range", testRange},
		{"RangeAtRevision", testRangeAtRevision},
		{"RangeErrors", testRangeErrors},
		{"RangeIsOnePicture", testRangeIsOnePicture},
		{"Versions", testVersions},
		{"VersionsLimit", testVersionsLimit},
		{"VersionsCompacted", testVersionsCompacted},
		{"VersionsErrors", testVersionsErrors},
		{"WatchOrder", testWatchOrder},
		{"WatchStart", testWatchStart},
		{"WatchFuture", testWatchFuture},
		{"WatchKey", testWatchKey},
		{"WatchPrev", testWatchPrev},
		{"WatchStorm", testWatchStorm},
		{"WatchLong", testWatchLong},
		{"Bell", testBell},
		{"CursorClose", testCursorClose},
		{"Compact", testCompact},
		{"CompactErrors", testCompactErrors},
		{"CompactLaggingCursor", testCompactLagging},
		{"CompactQuietCursor", testCompactQuiet},
		{"CompactUnderLoad", testCompactUnderLoad},
		{"CompactDuringNext", testCompactDuringNext},
		{"Close", testClose},
	} {
		if remote && test.name == "CompactLaggingCursor" {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() { s.Close() })
			test.run(t, s)
		})
	}
}

// patience bounds every wait for an event that must come; it is no measure.
const patience = time.Minute

func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return c
}

func put(key, value string) storage.Op {
	return storage.Op{Type: storage.Put, Key: key, Value: []byte(value)}
}

func del(key string) storage.Op { return storage.Op{Type: storage.Delete, Key: key} }

// commit commits ops unconditionally.
func commit(t testing.TB, s storage.Store, ops ...storage.Op) storage.Revision {
	t.Helper()
	res, err := s.Commit(ctx(t), storage.Txn{Then: ops})
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	if !res.Succeeded {
		t.Fatalf("Commit without conditions did not succeed: %+v", res)
	}
	return res.Revision
}

func rangeOf(t testing.TB, s storage.Store, r storage.RangeRequest) storage.RangeResult {
	t.Helper()
	res, err := s.Range(ctx(t), r)
	if err != nil {
		t.Fatalf("Range(%+v): %v", r, err)
	}
	return res
}

// get returns one key, nil if it does not exist.
func get(t testing.TB, s storage.Store, key string, at storage.Revision) *storage.KeyValue {
	t.Helper()
	res := rangeOf(t, s, storage.RangeRequest{Start: key, Revision: at})
	if len(res.KVs) == 0 {
		return nil
	}
	return res.KVs[0]
}

func watch(t testing.TB, s storage.Store, start, end string, after storage.Revision) storage.Cursor {
	t.Helper()
	c, err := s.Watch(storage.WatchRequest{Start: start, End: end, After: after, Prev: true})
	if err != nil {
		t.Fatalf("Watch(%q, %q, %d): %v", start, end, after, err)
	}
	t.Cleanup(c.Close)
	return c
}

func watchAll(t testing.TB, s storage.Store, after storage.Revision) storage.Cursor {
	t.Helper()
	return watch(t, s, "/", storage.PrefixEnd("/"), after)
}

// read reads a cursor, waiting at its bell, until its progress is at least rev, which it requests.
// It checks the invariants of each batch.
func read(t testing.TB, c storage.Cursor, rev storage.Revision) []storage.Event {
	t.Helper()
	return readUntil(t, c, rev, nil)
}

// readUntil is read for a revision that is long in coming: it is requested again when done is
// closed.
func readUntil(t testing.TB, c storage.Cursor, rev storage.Revision, done <-chan struct{}) []storage.Event {
	t.Helper()
	var events []storage.Event
	var progress storage.Revision
	deadline := time.After(patience)
	c.Want(rev)
	for {
		b, err := c.Next()
		if err != nil {
			t.Fatalf("Next after progress %d: %v", progress, err)
		}
		if b.Progress < progress {
			t.Fatalf("progress went back from %d to %d", progress, b.Progress)
		}
		for _, e := range b.Events {
			if e.Revision() <= progress {
				t.Fatalf("event of revision %d after progress %d: twice, late, or a transaction split", e.Revision(), progress)
			}
			if e.Revision() > b.Progress {
				t.Fatalf("event of revision %d in a batch with progress %d", e.Revision(), b.Progress)
			}
		}
		progress = b.Progress
		events = append(events, b.Events...)
		if progress >= rev {
			return events
		}
		if len(b.Events) > 0 {
			continue
		}
		select {
		case <-c.Bell():
		case <-done:
			done = nil
			c.Want(rev)
		case <-deadline:
			t.Fatalf("no bell; progress is %d, waiting for %d", progress, rev)
		}
	}
}

// await calls Next at every bell until it fails, and returns the error.
func await(t testing.TB, c storage.Cursor) error {
	t.Helper()
	deadline := time.After(patience)
	for {
		if _, err := c.Next(); err != nil {
			return err
		}
		select {
		case <-c.Bell():
		case <-deadline:
			t.Fatal("no bell for the end of the cursor")
		}
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}
