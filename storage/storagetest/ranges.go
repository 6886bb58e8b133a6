package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/storage"
)

func testRange(t *testing.T, s storage.Store) {
	for _, key := range []string{"/b/2", "/a/1", "/b/1", "/c", "/b", "/b/3", "/b0"} {
		commit(t, s, put(key, key))
	}
	for _, test := range []struct {
		name  string
		r     storage.RangeRequest
		keys  string
		count int64
		more  bool
	}{
		{"all", storage.RangeRequest{Start: "/", End: "0"}, "/a/1 /b /b/1 /b/2 /b/3 /b0 /c", 7, false},
		{"from the very beginning", storage.RangeRequest{Start: "", End: "/b/2"}, "/a/1 /b /b/1", 3, false},
		{"a prefix", storage.RangeRequest{Start: "/b/", End: storage.PrefixEnd("/b/")}, "/b/1 /b/2 /b/3", 3, false},
		{"the end is not in it", storage.RangeRequest{Start: "/b/1", End: "/b/3"}, "/b/1 /b/2", 2, false},
		{"one key", storage.RangeRequest{Start: "/b"}, "/b", 1, false},
		{"one missing key", storage.RangeRequest{Start: "/b/"}, "", 0, false},
		{"limit", storage.RangeRequest{Start: "/b/", End: "/b0", Limit: 2}, "/b/1 /b/2", 3, true},
		{"limit just enough", storage.RangeRequest{Start: "/b/", End: "/b0", Limit: 3}, "/b/1 /b/2 /b/3", 3, false},
		{"count only", storage.RangeRequest{Start: "/b/", End: "/b0", CountOnly: true}, "", 3, false},
		{"nothing in between", storage.RangeRequest{Start: "/d", End: "/e"}, "", 0, false},
		{"the wrong way round", storage.RangeRequest{Start: "/c", End: "/a"}, "", 0, false},
	} {
		res := rangeOf(t, s, test.r)
		var keys []string
		for _, kv := range res.KVs {
			keys = append(keys, kv.Key)
			if string(kv.Value) != kv.Key {
				t.Errorf("%s: %s has value %q", test.name, kv.Key, kv.Value)
			}
		}
		if got := strings.Join(keys, " "); got != test.keys || res.Count != test.count || res.More != test.more {
			t.Errorf("%s: %q count %d more %v, want %q %d %v", test.name, got, res.Count, res.More, test.keys, test.count, test.more)
		}
		if res.Revision != 8 {
			t.Errorf("%s: revision %d, want 8", test.name, res.Revision)
		}
	}
}

func testRangeAtRevision(t *testing.T, s storage.Store) {
	commit(t, s, put("/a", "1"))                 // 2
	commit(t, s, put("/b", "1"), put("/c", "1")) // 3
	commit(t, s, del("/a"), put("/b", "2"))      // 4
	commit(t, s, put("/a", "3"), del("/c"))      // 5
	for rev, want := range []string{1: "", 2: "/a=1", 3: "/a=1 /b=1 /c=1", 4: "/b=2 /c=1", 5: "/a=3 /b=2"} {
		if rev == 0 {
			continue
		}
		res := rangeOf(t, s, storage.RangeRequest{Start: "/", End: "0", Revision: storage.Revision(rev)})
		if got := text(res); got != want || res.Revision != storage.Revision(rev) || res.Count != int64(len(res.KVs)) {
			t.Errorf("at %d: %q (%+v), want %q", rev, got, res, want)
		}
	}
	if res := rangeOf(t, s, storage.RangeRequest{Start: "/", End: "0", Revision: 3, Limit: 1}); text(res) != "/a=1" || res.Count != 3 || !res.More {
		t.Errorf("limited at 3: %+v", res)
	}
}

func testRangeErrors(t *testing.T, s storage.Store) {
	commit(t, s, put("/a", "1"))
	_, err := s.Range(ctx(t), storage.RangeRequest{Start: "/a", Revision: 3})
	wantErr(t, "Range at a future revision", err, storage.ErrFutureRevision)
	commit(t, s, put("/a", "2"))
	if err := s.Compact(ctx(t), 3); err != nil {
		t.Fatal(err)
	}
	_, err = s.Range(ctx(t), storage.RangeRequest{Start: "/a", Revision: 2})
	wantErr(t, "Range at a compacted revision", err, storage.ErrCompacted)
	_, err = s.Range(ctx(t), storage.RangeRequest{Start: "/a", Revision: -1})
	wantErr(t, "Range at a negative revision", err, storage.ErrInvalid)
}

// testRangeIsOnePicture writes two keys together and reads them together, at the latest revision
// and at older ones.
func testRangeIsOnePicture(t *testing.T, s storage.Store) {
	commit(t, s, put("/x", "0"), put("/y", "0"))
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for last := storage.Revision(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				before := s.Revision()
				res := rangeOf(t, s, storage.RangeRequest{Start: "/", End: "0"})
				if res.Revision < before || res.Revision < last {
					t.Errorf("read revision %d after %d and %d", res.Revision, before, last)
				}
				last = res.Revision
				again := rangeOf(t, s, storage.RangeRequest{Start: "/", End: "0", Revision: last})
				same := slices.EqualFunc(res.KVs, again.KVs, sameKV)
				if len(res.KVs) != 2 || string(res.KVs[0].Value) != string(res.KVs[1].Value) || !same {
					t.Errorf("torn: %s and again %s", text(res), text(again))
					return
				}
			}
		})
	}
	for i := range 200 {
		commit(t, s, put("/x", fmt.Sprint(i)), put("/y", fmt.Sprint(i)))
	}
	close(stop)
	readers.Wait()
}

func text(r storage.RangeResult) string {
	var b strings.Builder
	for i, kv := range r.KVs {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", kv.Key, kv.Value)
	}
	return b.String()
}
