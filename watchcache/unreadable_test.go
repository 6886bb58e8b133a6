package watchcache_test

import (
	"errors"
	"strings"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"

	"k8s.io/apimachinery/pkg/labels"
)

// spoil stores an unreadable value.
func (w *world) spoil(name string) storage.Revision {
	w.t.Helper()
	w.commit(storage.Op{Key: "/registry/pods/" + name, Value: []byte("k8s:enc:")})
	return w.store.Revision()
}

// broken reads the pending events and the error after them, which names the key.
func (w *world) broken(watcher *watchcache.Watcher, key string, want ...string) {
	w.t.Helper()
	var events []watchcache.Event
	for {
		evs, _, err := watcher.Next()
		if err == nil && len(evs) > 0 {
			events = append(events, evs...)
			continue
		}
		if got := transcript(w.t, events); got != strings.Join(want, "\n") {
			w.t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
		w.wantUnreadable("watcher", err, key)
		return
	}
}

func (w *world) wantUnreadable(what string, err error, key string) {
	w.t.Helper()
	var e *watchcache.UnreadableError
	if !errors.As(err, &e) || e.Objects[0].Key != "/registry/pods/"+key {
		w.t.Errorf("%s: %v, want that %s cannot be read", what, err, key)
	}
}

func (w *world) present() *watchcache.Snapshot { return w.snapshot(watchcache.ReadAt{}) }

// TestUnreadableIsPresent spoils one of two objects in a namespace.
func TestUnreadableIsPresent(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.put("a/x n1")
	w.put("a/y n1")
	w.put("b/z n1")
	w.sync()
	before := w.store.Revision()
	watchers := map[string]*watchcache.Watcher{}
	for _, text := range []string{"", "ns=a", "fields=spec.nodeName=n2", "ns=a name=x", "labels=no=such"} {
		watchers[text] = w.watch(text, 0)
	}
	others := map[string]*watchcache.Watcher{}
	for _, text := range []string{"ns=b", "ns=a name=y", "ns=b name=x", "ns=b labels=no=such"} {
		others[text] = w.watch(text, 0)
	}
	readable, err := w.pods.Watch(t.Context(), watchcache.Selection{Readable: true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer readable.Close()
	at := w.spoil("a/x")
	w.sync()

	if o, _, err := w.pods.Get(t.Context(), "a", "x", watchcache.ReadAt{}); o != nil {
		t.Errorf("Get: %s", o.Value())
	} else {
		w.wantUnreadable("Get", err, "a/x")
	}
	if o, _, err := w.pods.Get(t.Context(), "a", "y", watchcache.ReadAt{}); err != nil || o == nil {
		t.Errorf("Get of another: %v, %v", o, err)
	}
	for text, watcher := range watchers {
		_, err := w.present().List(sel(t, text), "", 0)
		w.wantUnreadable("List "+text, err, "a/x")
		_, err = w.present().Walk(sel(t, text), "")
		w.wantUnreadable("Walk "+text, err, "a/x")
		for _, after := range []storage.Revision{0, before, at} {
			_, err = w.pods.Watch(t.Context(), sel(t, text), after)
			w.wantUnreadable("Watch "+text, err, "a/x")
		}
		w.broken(watcher, "a/x")
	}
	for text, watcher := range others {
		if _, err := w.present().List(sel(t, text), "", 0); err != nil {
			t.Errorf("List %s: %v", text, err)
		}
		w.watch(text, before)
		w.expect(watcher)
	}
	if got := names(w.present(), watchcache.Selection{Readable: true}, "", 0); got != "a/y@3 b/z@4" {
		t.Errorf("what can be read: %s", got)
	}
	w.expect(readable, "DELETED a/x@5 on n1")
	if got := names(w.present(), sel(t, "ns=a"), "/registry/pods/a/x", 0); got != "a/y@3" {
		t.Errorf("behind it: %s", got)
	}
	if n := w.present().Len(); n != 3 || !w.present().Unreadable("a", "x") || w.present().Unreadable("a", "y") {
		t.Errorf("%d objects", n)
	}
	if st := w.pods.Stats(); st.Unreadable != 1 || st.DecodeErrors != 1 {
		t.Errorf("%+v", st)
	}

	// The past is unchanged, also for an exact read during the lapse.
	exact := func(rev storage.Revision) *watchcache.Snapshot {
		return w.snapshot(watchcache.ReadAt{Match: watchcache.Exact, Revision: rev})
	}
	w.put("a/x n3")
	if got := names(exact(before), watchcache.Selection{}, "", 0); got != "a/x@2 a/y@3 b/z@4" {
		t.Errorf("before: %s", got)
	}
	_, err = exact(at).List(watchcache.Selection{}, "", 0)
	w.wantUnreadable("List of the time between", err, "a/x")
	if got := names(w.present(), watchcache.Selection{}, "", 0); got != "a/x@6 a/y@3 b/z@4" {
		t.Errorf("afterwards: %s", got)
	}
	w.expect(readable, "ADDED a/x@6 on n3")
	if st := w.pods.Stats(); st.Unreadable != 0 {
		t.Errorf("%+v", st)
	}
}

// TestLapseIsOneChange has watchers go on from before a lapse, from the cache's history
// and from the store's: to them it is one change, or one deletion.
func TestLapseIsOneChange(t *testing.T) {
	for _, whose := range []string{"cache", "store"} {
		t.Run(whose, func(t *testing.T) {
			w := newWorld(t, watchcache.HubOptions{})
			w.put("a/x n1")
			w.put("a/y n1")
			before := w.store.Revision()
			w.spoil("a/x")
			w.spoil("a/x")
			w.spoil("a/y")
			w.spoil("a/new")
			w.put("a/x n2")
			w.delete("a/y")
			w.put("a/new n1")
			w.sync()
			if whose == "store" { // which is all that knows of it, for a new cache
				w.hub.Remove(w.pods)
				w.pods = w.hub.Add(podOptions)
			}
			all := w.watch("", before)
			on1 := w.watch("fields=spec.nodeName=n1", before)
			w.put("a/last n1")
			w.sync()
			w.expect(all, "MODIFIED a/x@8 on n2", "DELETED a/y@9 on n1", "ADDED a/new@10 on n1", "ADDED a/last@11 on n1")
			w.expect(on1, "DELETED a/x@8 on n1", "DELETED a/y@9 on n1", "ADDED a/new@10 on n1", "ADDED a/last@11 on n1")
		})
	}
}

// TestWatchersHearOfALapseLast: a watcher that is behind reads the earlier events first.
func TestWatchersHearOfALapseLast(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	watcher := w.watch("", 0)
	w.put("a/x")
	w.spoil("a/y")
	w.put("a/z")
	w.sync()
	w.broken(watcher, "a/y", "ADDED a/x@2")
}

// TestLoadedUnreadable begins with a store that holds unreadable values.
func TestLoadedUnreadable(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.put("a/x")
	w.spoil("a/y")
	w.hub.Remove(w.pods)
	w.pods = w.hub.Add(podOptions)
	_, err := w.present().List(watchcache.Selection{Labels: labels.Everything()}, "", 0)
	w.wantUnreadable("List", err, "a/y")
	w.delete("a/y")
	if got := names(w.present(), watchcache.Selection{}, "", 0); got != "a/x@2" {
		t.Errorf("after the deletion: %s", got)
	}
}

// TestReadDecides: the cache calls Options.Read for values without the type prefix.
func TestReadDecides(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	o := podOptions
	o.Prefix, o.TypePrefix = "/registry/things/", `{"kind":"Thing",`
	o.Read = func(value []byte) ([]byte, error) {
		if string(value) == "other" {
			return []byte(`{"kind":"Thing","metadata":{"name":"read"}}`), nil
		}
		return nil, errors.New("no thing")
	}
	things := w.hub.Add(o)
	for value, want := range map[string]string{
		`{"kind":"Thing","metadata":{}}`:           "",
		`{"kind":"Thing","metadata":{},"a":"{\""}`: "",
		"other":                          "",
		`{"kind":"Thong","metadata":{}}`: "no thing",
		`{"kind":"Thing","metadata":{},"spec":{"cut`: "not a JSON object",
		`{"kind":"Thing","metadata":{},"spec":{"}`:   "not a JSON object",
		`{"kind":"Thing","metadata":5}`:              "metadata is not a JSON object",
	} {
		w.commit(storage.Op{Key: "/registry/things/a/x", Value: []byte(value)})
		_, _, err := things.Get(t.Context(), "a", "x", watchcache.ReadAt{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
}
