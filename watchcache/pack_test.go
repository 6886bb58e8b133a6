package watchcache_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// large is a pod of some KB, of which successive states differ little.
func large(name string, n int) storage.Op {
	node := fmt.Sprint("n", n%3)
	text := strings.Repeat("what stays the same ", 100+n%5)
	return storage.Op{Type: storage.Put, Key: "/registry/pods/" + name, Value: fmt.Appendf(nil,
		`{"kind":"Pod","metadata":{"name":%q,"labels":{"app":"a%d"},"annotations":{"n":"%d"}},"spec":{"nodeName":%q,"text":%q},"status":{"n":%d}}`,
		name[strings.Index(name, "/")+1:], n%2, n, node, text, n*n)}
}

// TestPackedHistory follows a history that has been packed in every way there is:
// by watchers that begin at any of its revisions or were there all the time, and by
// snapshots of the past.
func TestPackedHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pods, writes = 7, 6000
		w := newWorld(t, watchcache.HubOptions{HistoryBytes: 4 << 20, History: time.Hour})
		stop := w.feed()
		defer stop()
		selections := []string{"", "fields=spec.nodeName=n1", "labels=app=a1", "ns=a name=p3", "fields=spec.nodeName!=n2"}
		var all []*watchcache.Watcher
		for _, s := range selections {
			all = append(all, w.watch(s, 0))
		}
		start := w.store.Revision()
		for i := range writes {
			name := fmt.Sprint("a/p", i%pods)
			if i%101 == 100 {
				w.delete(name)
			} else {
				w.commit(large(name, i))
			}
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		st := w.pods.Stats()
		if st.Events < writes || st.EventBytes > 4<<20 {
			t.Fatalf("%d events of %d are kept, in %d bytes", st.Events, writes, st.EventBytes)
		}
		rnd := rand.New(rand.NewPCG(3, 4))
		for i, s := range selections {
			events, _ := drain(t, all[i])
			for range 5 {
				after := start + storage.Revision(rnd.IntN(writes))
				first := len(events)
				for first > 0 && events[first-1].Revision > after {
					first--
				}
				late, _ := drain(t, w.watch(s, after))
				if got, want := transcript(t, late), transcript(t, events[first:]); got != want {
					t.Fatalf("%q after %d: %d events, want %d", s, after, len(late), len(events)-first)
				}
				for j, e := range late {
					if want := events[first+j].AppendObject(nil); string(e.AppendObject(nil)) != string(want) {
						t.Fatalf("%q: %s, want %s", s, e.AppendObject(nil), want)
					}
				}
			}
		}
		for range 20 {
			rev := start + storage.Revision(rnd.IntN(writes))
			stored, err := w.store.Range(t.Context(), storage.RangeRequest{Start: "/registry/pods/", End: "/registry/pods0", Revision: rev})
			if err != nil {
				t.Fatal(err)
			}
			s := w.snapshot(watchcache.ReadAt{Match: watchcache.Exact, Revision: rev})
			for _, kv := range stored.KVs {
				_, name, _ := strings.Cut(strings.TrimPrefix(kv.Key, "/registry/pods/"), "/")
				if o, err := s.Get("a", name); err != nil || o == nil || string(o.Value()) != string(kv.Value) {
					t.Fatalf("%s at %d is %v, want %s", kv.Key, rev, o, kv.Value)
				}
			}
			if s.Len() != len(stored.KVs) {
				t.Fatalf("%d objects at %d, want %d", s.Len(), rev, len(stored.KVs))
			}
		}
	})
}

// TestFormsAreForgotten: encodings without readers are dropped, the others stay.
func TestFormsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, watchcache.HubOptions{})
		stop := w.feed()
		defer stop()
		wanted, _ := object(t, w, `{}`)
		left, _ := object(t, w, `{}`)
		built := 0
		build := func(*watchcache.Object) ([]byte, error) { built++; return make([]byte, 100), nil }
		left.Encoding("x", build)
		for range 10 {
			wanted.Encoding("x", build)
			time.Sleep(10 * time.Second)
		}
		if got := w.hub.Stats().EncodingBytes; got != 100 || built != 2 {
			t.Errorf("%d bytes of forms are kept, want 100; built %d times, want 2", got, built)
		}
	})
}
