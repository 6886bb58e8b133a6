package follow_test

import (
	"context"
	"testing"
	"time"

	"fairlead.dev/internal/watchcache/follow"
	"fairlead.dev/storage"
)

// fakeStore is a store whose answers the test sets.
type fakeStore struct {
	storage.Store
	rev      storage.Revision
	progress storage.Revision // of the cursors
	rangeErr []error          // of the next calls of Range
	nextErr  []error          // of the next calls of Cursor.Next
}

func (s *fakeStore) Revision() storage.Revision                        { return s.rev }
func (s *fakeStore) Current(context.Context) (storage.Revision, error) { return s.rev, nil }

func (s *fakeStore) Range(context.Context, storage.RangeRequest) (storage.RangeResult, error) {
	return storage.RangeResult{Revision: s.rev}, take(&s.rangeErr)
}

func (s *fakeStore) Watch(storage.WatchRequest) (storage.Cursor, error) {
	return fakeCursor{s}, nil
}

type fakeCursor struct{ *fakeStore }

func (c fakeCursor) Next() (storage.Batch, error) {
	return storage.Batch{Progress: c.progress}, take(&c.nextErr)
}
func (c fakeCursor) Bell() <-chan struct{} { return nil }
func (c fakeCursor) Want(storage.Revision) {}
func (c fakeCursor) Close()                {}

func take(errs *[]error) error {
	if len(*errs) == 0 {
		return nil
	}
	err := (*errs)[0]
	*errs = (*errs)[1:]
	return err
}

// recorder is a sink that records how it was called.
type recorder struct {
	resets []storage.Revision
	ended  bool
}

func (r *recorder) Apply(*storage.Event, int64) {}
func (r *recorder) Begin(storage.Revision) bool { return false }

func (r *recorder) Load(rev storage.Revision) follow.Load { return load{r, rev} }
func (r *recorder) Expire(time.Time)                      {}
func (r *recorder) End()                                  { r.ended = true }

type load struct {
	*recorder
	rev storage.Revision
}

func (load) Add(*storage.Packed) {}
func (l load) Done()             { l.resets = append(l.resets, l.rev) }

func feed(f *follow.Follower) error {
	f.Lock()
	defer f.Unlock()
	_, _, err := f.Feed()
	return err
}

// TestLoadMeetsRebuild loads a sink at a revision that the store has compacted. The follower catches
// up first, finds that its cursor has been compacted, too, and loads all sinks again.
func TestLoadMeetsRebuild(t *testing.T) {
	s := &fakeStore{rev: 5}
	f, err := follow.New(s, "/registry/")
	if err != nil {
		t.Fatal(err)
	}
	s.rangeErr = []error{storage.ErrUnavailable}
	var sink recorder
	f.Add("/registry/pods/", &sink)
	if f.Err() == nil || len(sink.resets) != 0 {
		t.Fatalf("Err is %v and the sink was loaded at %v, although the store failed", f.Err(), sink.resets)
	}
	s.rev = 9
	s.nextErr = []error{nil, storage.ErrCompacted} // Feed reads the cursor, then fill to catch up
	s.rangeErr = []error{storage.ErrCompacted}
	if err := feed(f); err != nil {
		t.Fatal(err)
	}
	if f.Err() != nil || f.Rebuilds() != 1 || f.Revision() != 9 || sink.resets[0] != 9 {
		t.Fatalf("Err %v, %d rebuilds, revision %d, loaded at %v", f.Err(), f.Rebuilds(), f.Revision(), sink.resets)
	}
}

// TestRemove ends the sink that is removed, and no other one that has taken its place.
func TestRemove(t *testing.T) {
	f, err := follow.New(&fakeStore{rev: 5}, "/registry/")
	if err != nil {
		t.Fatal(err)
	}
	var first, second recorder
	f.Add("/registry/pods/", &first)
	f.Add("/registry/pods/", &second)
	if f.Remove("/registry/pods/", &first); first.ended || second.ended {
		t.Error("a sink that had been replaced was removed")
	}
	if f.Remove("/registry/pods/", &second); !second.ended {
		t.Error("the removed sink was not ended")
	}
}
