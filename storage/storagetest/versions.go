package storagetest

import (
	"errors"
	"testing"

	"fairlead.dev/storage"
)

// versions reads the versions of a key, the newest first, and checks the bounds of their times.
func versions(t testing.TB, s storage.Store, r storage.VersionsRequest) (storage.VersionsResult, []storage.Event) {
	t.Helper()
	res, err := s.Versions(ctx(t), r)
	if err != nil {
		t.Fatalf("Versions(%+v): %v", r, err)
	}
	var events []storage.Event
	for _, v := range res.Versions {
		if !v.After.IsZero() && !v.By.IsZero() && v.After.After(v.By) {
			t.Errorf("revision %d was committed after %v and by %v", v.Revision(), v.After, v.By)
		}
		events = append(events, v.Event)
	}
	return res, events
}

func testVersions(t *testing.T, s storage.Store) {
	commit(t, s, put("/a", "1"))                 // 2
	commit(t, s, put("/a", "2"), put("/b", "1")) // 3
	commit(t, s, put("/b", "2"))                 // 4
	commit(t, s, del("/a"))                      // 5
	commit(t, s, put("/b", "3"), put("/a", "3")) // 6
	res, events := versions(t, s, storage.VersionsRequest{Key: "/a", Limit: 10})
	wantStory(t, events, "+/a=3@6 -/a@5 +/a=2@3 +/a=1@2")
	if res.More || res.Revision != 6 || res.Compacted != 0 {
		t.Errorf("more %v, revision %d, compacted %d; want false, 6, 0", res.More, res.Revision, res.Compacted)
	}
	for i, prev := range []string{"", "2", "1", ""} {
		if e := events[i]; (e.Prev == nil) != (prev == "") || e.Prev != nil && string(e.Prev.Value) != prev {
			t.Errorf("before revision %d: %+v, want %q", e.Revision(), e.Prev, prev)
		}
	}
	want(t, events[0].KV, storage.KeyValue{Key: "/a", Value: []byte("3"), CreateRevision: 6, ModRevision: 6, Version: 1})
	want(t, events[2].KV, storage.KeyValue{Key: "/a", Value: []byte("2"), CreateRevision: 2, ModRevision: 3, Version: 2})
	_, events = versions(t, s, storage.VersionsRequest{Key: "/", Limit: 10})
	wantStory(t, events, "")
	commit(t, s, del("/a")) // 7
	_, events = versions(t, s, storage.VersionsRequest{Key: "/a", Limit: 2})
	wantStory(t, events, "-/a@7 +/a=3@6")
}

func testVersionsLimit(t *testing.T, s storage.Store) {
	for _, v := range []string{"1", "2", "3"} {
		commit(t, s, put("/a", v))
	}
	commit(t, s, put("/b", "1"))
	res, events := versions(t, s, storage.VersionsRequest{Key: "/a", Limit: 2})
	wantStory(t, events, "+/a=3@4 +/a=2@3")
	if !res.More {
		t.Error("two of three versions, and no more")
	}
	for before, story := range map[storage.Revision]string{3: "+/a=1@2", 4: "+/a=2@3 +/a=1@2", 2: "", 1: "", 99: "+/a=3@4 +/a=2@3 +/a=1@2"} {
		res, events := versions(t, s, storage.VersionsRequest{Key: "/a", Before: before, Limit: 3})
		wantStory(t, events, story)
		if res.More && len(events) < 3 {
			t.Errorf("more before %d than %s", before, story)
		}
	}
}

func testVersionsCompacted(t *testing.T, s storage.Store) {
	commit(t, s, put("/a", "1"), put("/gone", "1")) // 2
	commit(t, s, put("/a", "2"), del("/gone"))      // 3
	commit(t, s, put("/b", "1"))                    // 4
	commit(t, s, put("/a", "3"))                    // 5
	commit(t, s, del("/a"), put("/gone", "2"))      // 6
	commit(t, s, put("/a", "4"))                    // 7
	for _, step := range []struct {
		compacted storage.Revision
		a, gone   string
	}{
		{4, "+/a=4@7 -/a@6 +/a=3@5 +/a=2@3", "+/gone=2@6"},
		{5, "+/a=4@7 -/a@6 +/a=3@5", "+/gone=2@6"},
		{6, "+/a=4@7", "+/gone=2@6"},
		{7, "+/a=4@7", "+/gone=2@6"},
	} {
		compact(t, s, step.compacted)
		res, events := versions(t, s, storage.VersionsRequest{Key: "/a", Limit: 10})
		wantStory(t, events, step.a)
		if res.Compacted != step.compacted || res.More {
			t.Errorf("compacted %d, more %v; want %d, false", res.Compacted, res.More, step.compacted)
		}
		if last := events[len(events)-1]; last.Prev != nil {
			t.Errorf("before revision %d, compacted %d: %+v", last.Revision(), step.compacted, last.Prev)
		}
		_, events = versions(t, s, storage.VersionsRequest{Key: "/gone", Limit: 10})
		wantStory(t, events, step.gone)
	}
}

func testVersionsErrors(t *testing.T, s storage.Store) {
	for _, r := range []storage.VersionsRequest{{Key: "/a"}, {Key: "/a", Limit: -1}, {Key: "/a", Limit: 1, Before: -1}} {
		_, err := s.Versions(ctx(t), r)
		wantErr(t, "Versions", err, storage.ErrInvalid)
	}
	s.Close()
	if _, err := s.Versions(ctx(t), storage.VersionsRequest{Key: "/a", Limit: 1}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("of a closed store: %v", err)
	}
}
