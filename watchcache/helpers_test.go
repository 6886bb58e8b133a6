package watchcache_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

var podOptions = watchcache.Options{
	Prefix:     "/registry/pods/",
	Namespaced: true,
	Fields: []watchcache.Field{
		{Label: "spec.nodeName", Paths: [][]string{{"spec", "nodeName"}}},
		{Label: "status.phase", Paths: [][]string{{"status", "phase"}}, Zero: "Pending"},
	},
	IndexFields: []string{"spec.nodeName"},
	Resource:    "pods",
}

// world is a store, a hub and a cache of pods.
type world struct {
	t     testing.TB
	store *memStore
	hub   *watchcache.Hub
	pods  *watchcache.Cache
}

func newWorld(t testing.TB, o watchcache.HubOptions) *world {
	w := &world{t: t, store: newMemStore()}
	w.open(o)
	return w
}

// open starts a hub over the store, as a new process would.
func (w *world) open(o watchcache.HubOptions) {
	w.t.Helper()
	hub, err := watchcache.NewHub(w.store, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.hub, w.pods = hub, hub.Add(podOptions)
}

// run runs the feeder until the test ends.
func (w *world) run() { w.t.Cleanup(w.feed()) }

// feed runs the feeder until stop is called.
func (w *world) feed() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.hub.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

func (w *world) commit(ops ...storage.Op) storage.Revision {
	w.t.Helper()
	r, err := w.store.Commit(context.Background(), storage.Txn{Then: ops})
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Revision
}

// put writes a pod: "ns/name node app=x,tier=y", node and labels optional as "-".
func put(spec string) storage.Op {
	f := strings.Fields(spec)
	namespace, name, _ := strings.Cut(f[0], "/")
	meta := map[string]any{"name": name, "namespace": namespace, "uid": "uid-" + name}
	pod := map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": meta}
	if len(f) > 1 && f[1] != "-" {
		pod["spec"] = map[string]any{"nodeName": f[1]}
	}
	if len(f) > 2 && f[2] != "-" {
		set, err := labels.ConvertSelectorToLabelsMap(f[2])
		if err != nil {
			panic(err)
		}
		meta["labels"] = set
	}
	if len(f) > 3 {
		pod["status"] = map[string]any{"phase": f[3]}
	}
	b, err := json.Marshal(pod)
	if err != nil {
		panic(err)
	}
	return storage.Op{Type: storage.Put, Key: "/registry/pods/" + f[0], Value: b}
}

func (w *world) put(spec string) storage.Revision {
	w.t.Helper()
	return w.commit(put(spec))
}

func (w *world) delete(name string) storage.Revision {
	w.t.Helper()
	return w.commit(storage.Op{Type: storage.Delete, Key: "/registry/pods/" + name})
}

// sync takes in all that the store has.
func (w *world) sync() {
	w.t.Helper()
	if err := w.hub.WaitFor(context.Background(), w.store.Revision()); err != nil {
		w.t.Fatal(err)
	}
}

// sel is a selection: "ns=a name=b labels=app=x fields=spec.nodeName=n1".
func sel(t testing.TB, text string) watchcache.Selection {
	t.Helper()
	var s watchcache.Selection
	for _, part := range strings.Fields(text) {
		k, v, _ := strings.Cut(part, "=")
		var err error
		switch k {
		case "ns":
			s.Namespace = v
		case "name":
			s.Name = v
		case "labels":
			s.Labels, err = labels.Parse(v)
		case "fields":
			s.Fields, err = fields.ParseSelector(v)
		default:
			err = fmt.Errorf("unknown %q", k)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (w *world) watch(text string, after storage.Revision) *watchcache.Watcher {
	w.t.Helper()
	watcher, err := w.pods.Watch(context.Background(), sel(w.t, text), after)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(watcher.Close)
	return watcher
}

// drain reads until there are no more events at once.
func drain(t testing.TB, watcher *watchcache.Watcher) (events []watchcache.Event, progress storage.Revision) {
	t.Helper()
	for {
		evs, p, err := watcher.Next()
		if err != nil {
			t.Fatal(err)
		}
		if p < progress {
			t.Fatalf("progress went back from %d to %d", progress, p)
		}
		for _, ev := range evs {
			if ev.Revision > p {
				t.Fatalf("event at %d above progress %d", ev.Revision, p)
			}
		}
		progress = p
		if len(evs) == 0 {
			return events, progress
		}
		events = append(events, evs...)
	}
}

// transcript writes events as "ADDED a/x@5", where @ is the resource version
// that the object shows.
func transcript(t testing.TB, events []watchcache.Event) string {
	t.Helper()
	var lines []string
	for _, ev := range events {
		var shown struct {
			Metadata struct{ Name, Namespace, ResourceVersion string }
			Spec     struct{ NodeName string }
		}
		if err := json.Unmarshal(ev.AppendObject(nil), &shown); err != nil {
			t.Fatal(err)
		}
		m := shown.Metadata
		line := fmt.Sprintf("%s %s/%s@%s", ev.Type, m.Namespace, m.Name, m.ResourceVersion)
		if shown.Spec.NodeName != "" {
			line += " on " + shown.Spec.NodeName
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (w *world) expect(watcher *watchcache.Watcher, want ...string) {
	w.t.Helper()
	events, _ := drain(w.t, watcher)
	if got := transcript(w.t, events); got != strings.Join(want, "\n") {
		w.t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func (w *world) snapshot(at watchcache.ReadAt) *watchcache.Snapshot {
	w.t.Helper()
	s, err := w.pods.Snapshot(context.Background(), at)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// names lists a snapshot as "a/x@5 a/y@7".
func names(s *watchcache.Snapshot, sel watchcache.Selection, after string, limit int) string {
	var out []string
	objects, err := s.List(sel, after, limit)
	if err != nil {
		return err.Error()
	}
	for o := range objects {
		out = append(out, fmt.Sprintf("%s/%s@%d", o.Namespace(), o.Name(), o.Revision()))
	}
	return strings.Join(out, " ")
}

// list is List where all can be read.
func list(s *watchcache.Snapshot, sel watchcache.Selection, after string, limit int) iter.Seq[*watchcache.Object] {
	objects, err := s.List(sel, after, limit)
	if err != nil {
		panic(err)
	}
	return objects
}

// walk is Walk where all can be read.
func walk(s *watchcache.Snapshot, sel watchcache.Selection, after string) watchcache.Walk {
	w, err := s.Walk(sel, after)
	if err != nil {
		panic(err)
	}
	return w
}

// one is Get where all can be read.
func one(s *watchcache.Snapshot, namespace, name string) *watchcache.Object {
	o, err := s.Get(namespace, name)
	if err != nil {
		panic(err)
	}
	return o
}
