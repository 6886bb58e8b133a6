package watchcache_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	objects "fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

// settledWorld has pods that were loaded and pods that were created later, some of them changed several times, all a
// while ago. It returns their expected values by name.
func settledWorld(t *testing.T, historyBytes int) (w *world, want map[string]string) {
	w = &world{t: t, store: newMemStore()}
	want = map[string]string{}
	write := func(i, n int) {
		op := large(fmt.Sprintf("a/web-%d", i), n)
		w.commit(op)
		want[fmt.Sprintf("web-%d", i)] = string(op.Value)
	}
	for i := range 600 {
		write(i, i)
	}
	w.open(watchcache.HubOptions{History: 5 * time.Minute, HistoryBytes: historyBytes})
	w.run()
	time.Sleep(time.Minute) // the loaded pods are settled
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := 600; i < 1200; i++ {
		write(i, i)
		if i%3 == 0 {
			write(rnd.IntN(i), i*i)
		}
	}
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	return w, want
}

// TestSettledObjects checks that objects that have not changed for a while are held as differences to similar ones, and
// are read as before: whole, by their attributes, and in a watch. So are objects that were written faster than the history
// could keep their changes.
func TestSettledObjects(t *testing.T) {
	t.Run("in the history", func(t *testing.T) { testSettledObjects(t, 32<<20) })
	t.Run("not in the history", func(t *testing.T) { testSettledObjects(t, 64<<10) })
}

func testSettledObjects(t *testing.T, historyBytes int) {
	synctest.Test(t, func(t *testing.T) {
		w, want := settledWorld(t, historyBytes)
		s := w.snapshot(watchcache.ReadAt{})
		kind := objects.NewKind(objects.Kind{Prefix: podOptions.Prefix, Namespaced: true, Fields: podOptions.Fields})
		held, whole := 0, 0
		for name, value := range want {
			o := one(s, "a", name)
			held, whole = held+objects.StoredSize(o), whole+o.Size()
			if got := string(o.Value()); got != value || o.Size() != len(value) || string(o.Unpacked().Value()) != value {
				t.Fatalf("%s is %.200s, want %.200s", name, got, value)
			}
			fresh, err := objects.New(&storage.KeyValue{Key: o.Key(), Value: []byte(value), ModRevision: o.Revision()}, kind)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(o.AppendJSON([]byte("x"))), string(fresh.AppendJSON([]byte("x"))); got != want {
				t.Fatalf("%s is answered as %.200s, want %.200s", name, got, want)
			}
			if !objects.SameAttributes(o, fresh) || o.UID() != fresh.UID() {
				t.Fatalf("%s has the labels %v, want %v", name, o.Labels(), fresh.Labels())
			}
		}
		if len(want) != 1200 || held > whole/5 {
			t.Errorf("%d objects of %d bytes are held in %d, want a fifth at most", len(want), whole, held)
		}
	})
}

// TestSettledObjectsChange checks that settled objects are replaced and deleted as others: watchers see the states
// before, and the size of the history returns to zero.
func TestSettledObjectsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, want := settledWorld(t, 32<<20)
		watcher := w.watch("labels=app=a1", 0)
		drain(t, watcher)
		n := 0
		for name := range want {
			switch n++; n % 3 {
			case 0:
				w.commit(large("a/"+name, 2*n+1)) // into the selection, or in it
			case 1:
				w.delete("a/" + name)
			}
		}
		synctest.Wait()
		events, _ := drain(t, watcher)
		late := w.watch("labels=app=a1", w.store.Revision()-800)
		all, _ := drain(t, late)
		if got, want := transcript(t, all), transcript(t, events); got != want || len(events) < 500 {
			t.Errorf("a late watcher has %d events, want %d", len(all), len(events))
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if st := w.pods.Stats(); st.Events != 0 || st.EventBytes != 0 {
			t.Errorf("an expired history has %d events of %d bytes", st.Events, st.EventBytes)
		}
	})
}

// TestSettledObjectsOfPacker checks that objects that have not changed for a while have the memory of the store, if that packs
// values, and are read as before; objects that are encrypted in the store are packed by the cache.
func TestSettledObjectsOfPacker(t *testing.T) {
	for _, c := range []struct {
		name string
		key  byte // every byte of a value is stored as its exclusive or with this one
	}{{"stored as they are read", 0}, {"encrypted", 1}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testSettledObjectsOfPacker(t, c.key) })
		})
	}
}

func testSettledObjectsOfPacker(t *testing.T, key byte) {
	crypt := func(value []byte) []byte {
		return bytes.Map(func(r rune) rune { return r ^ rune(key) }, value)
	}
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	want := map[string]string{}
	write := func(i, n int) {
		op := large(fmt.Sprintf("a/web-%d", i), n)
		want[fmt.Sprintf("web-%d", i)] = string(op.Value)
		op.Value = crypt(op.Value)
		if _, err := store.Commit(t.Context(), storage.Txn{Then: []storage.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 300 {
		write(i, i)
	}
	o := watchcache.HubOptions{}
	if key > 0 {
		o.Open = func(kv *storage.KeyValue, _ bool) ([]byte, error) { return crypt(kv.Value), nil }
	}
	hub, err := watchcache.NewHub(store, o)
	if err != nil {
		t.Fatal(err)
	}
	pods := hub.Add(podOptions)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- hub.Run(ctx) }()
	defer func() { cancel(); <-done }()
	time.Sleep(time.Minute)
	for i := 200; i < 600; i++ {
		write(i, 2*i)
	}
	time.Sleep(time.Minute)
	synctest.Wait()

	check := func(t *testing.T, pods *watchcache.Cache) {
		snapshot, err := pods.Snapshot(ctx, watchcache.ReadAt{})
		if err != nil {
			t.Fatal(err)
		}
		stored, held, whole := 0, 0, 0
		for name, value := range want {
			o := one(snapshot, "a", name)
			if got := string(o.Value()); got != value {
				t.Fatalf("%s is %.200s, want %.200s", name, got, value)
			}
			if p := store.Pack(o.Key(), o.Revision()); objects.IsStored(o, p.KV) {
				stored++
			}
			held, whole = held+objects.StoredSize(o), whole+o.Size()
		}
		if shares := stored > len(want)*9/10; len(want) != 600 || shares != (key == 0) || held > whole/5 {
			t.Errorf("%d of %d objects have the memory of the store; %d bytes are held in %d, want a fifth at most", stored, len(want), whole, held)
		}
	}
	check(t, pods)
	loaded, err := watchcache.NewHub(store, o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, loaded.Add(podOptions)) // packed at once
}
