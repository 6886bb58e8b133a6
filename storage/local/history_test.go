package local_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// TestHistory lets time pass: revisions older than the history are compacted, younger ones are not.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "", local.Options{InMemory: true})
		defer s.Close()
		put(t, s, "/a", "1")
		put(t, s, "/a", "2")
		time.Sleep(3 * time.Minute)
		put(t, s, "/a", "3")
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if s.Compacted() != 0 {
			t.Errorf("compacted %d before its time", s.Compacted())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.Compacted() != 3 {
			t.Errorf("compacted %d after 5 minutes, want 3", s.Compacted())
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if s.Compacted() != 4 {
			t.Errorf("compacted %d after all, want 4", s.Compacted())
		}
	})
}

// TestHistorySurvivesRestart: a watcher continues with the next revision, and the age of the kept
// history is not forgotten.
func TestHistorySurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, local.Options{})
	for i := range 10 {
		put(t, s, "/a", fmt.Sprint(i))
	}
	s.Close()

	s = open(t, dir, local.Options{})
	c, err := s.Watch(storage.WatchRequest{Start: "/", End: "0", After: 6, Prev: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Next()
	if err != nil || len(b.Events) != 5 || b.Events[0].Revision() != 7 || string(b.Events[0].Prev.Value) != "4" {
		t.Errorf("after a restart: %+v, %v", b, err)
	}
	s.Close()

	// With hardly any history, all is soon compacted, and stays so.
	s = open(t, dir, local.Options{History: time.Nanosecond})
	lagging, err := s.Watch(storage.WatchRequest{Start: "/", End: "0", After: 1, Prev: true})
	if err != nil {
		t.Fatal(err)
	}
	for s.Compacted() < s.Revision() {
		put(t, s, "/b", "x")
		time.Sleep(time.Millisecond)
		if s.Revision() > 20_000 {
			t.Fatal("nothing was compacted")
		}
		if s.Compacted() > 11 {
			break
		}
	}
	_, err = lagging.Next()
	wantErr(t, "a cursor that was compacted", err, storage.ErrCompacted)
	compacted := s.Compacted()
	s.Close()
	s = open(t, dir, local.Options{})
	defer s.Close()
	if s.Compacted() < compacted {
		t.Errorf("compacted %d after a restart, %d before", s.Compacted(), compacted)
	}
	_, err = s.Watch(storage.WatchRequest{Start: "/", End: "0", After: 3})
	wantErr(t, "Watch", err, storage.ErrCompacted)
	r, err := s.Range(t.Context(), storage.RangeRequest{Start: "/a"})
	if err != nil || len(r.KVs) != 1 || r.KVs[0].Version != 10 {
		t.Errorf("/a is %+v, %v", r.KVs, err)
	}
}

// TestVersionTimes: the time of each write is known to within ten seconds, after an idle hour and
// after a restart too.
func TestVersionTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir, local.Options{History: 24 * time.Hour})
		var wrote []time.Time
		for _, pause := range []time.Duration{time.Minute, time.Hour, 13 * time.Second} {
			time.Sleep(pause)
			put(t, s, "/a", fmt.Sprint(pause))
			wrote = append(wrote, time.Now())
		}
		check := func(when string, precision time.Duration) {
			t.Helper()
			res, err := s.Versions(t.Context(), storage.VersionsRequest{Key: "/a", Limit: 5})
			if err != nil || len(res.Versions) != len(wrote) {
				t.Fatalf("%s: %+v, %v", when, res, err)
			}
			for i, v := range res.Versions {
				at := wrote[len(wrote)-1-i]
				if v.After.After(at) || v.By.Before(at) || !v.After.IsZero() && v.By.Sub(v.After) > precision {
					t.Errorf("%s: version %d was written at %v, and is said to be of %v to %v", when, i, at, v.After, v.By)
				}
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		check("at once", 10*time.Second)
		s.Close()
		s = open(t, dir, local.Options{History: 24 * time.Hour})
		defer s.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		check("after a restart", time.Hour+time.Minute) // an idle hour has one mark on disk
	})
}
