package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"

	"k8s.io/apimachinery/pkg/watch"
)

// TestStorm has writers, readers and every kind of watcher at work at once. Each watcher keeps a
// copy of its selection by events alone, checks that they are a valid history, and in the end
// compares it with a list.
func TestStorm(t *testing.T) {
	t.Run("simple store", func(t *testing.T) { storm(t, newMemStore(), watchcache.HubOptions{}) })
	t.Run("short history", func(t *testing.T) { storm(t, newMemStore(), watchcache.HubOptions{HistoryBytes: 16 << 10}) })
	t.Run("outages", func(t *testing.T) {
		s := newMemStore()
		storm(t, s, watchcache.HubOptions{HistoryBytes: 64 << 10}, func() {
			s.fail(storage.ErrUnavailable)
			s.fail(nil)
		}, func() { s.Compact(context.Background(), s.Revision()) })
	})
	t.Run("storage/local", func(t *testing.T) {
		s, err := local.Open("", local.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		storm(t, s, watchcache.HubOptions{})
	})
}

func storm(t *testing.T, store storage.Store, o watchcache.HubOptions, troubles ...func()) {
	const writers, writes = 4, 1000
	hub, err := watchcache.NewHub(store, o)
	if err != nil {
		t.Fatal(err)
	}
	pods := hub.Add(podOptions)
	ctx, cancel := context.WithCancel(t.Context())
	var feeder, writing, watching sync.WaitGroup
	feeder.Go(func() { hub.Run(ctx) })
	defer feeder.Wait()
	defer cancel()

	for i := range writers {
		writing.Go(func() { stormWriter(t, store, rand.New(rand.NewPCG(uint64(i), 1)), i, writes, troubles) })
	}
	end := make(chan struct{})
	var final storage.Revision
	for i, text := range []string{
		"", "", "ns=a", "ns=b name=p1", "fields=spec.nodeName=n1", "fields=spec.nodeName=n2", "fields=spec.nodeName=",
		"ns=a fields=spec.nodeName=n1", "labels=app=x1", "labels=app", "labels=app!=x1", "ns=b labels=app=x2", "fields=status.phase=Running",
	} {
		watching.Go(func() {
			c := &copyOf{t: t, pods: pods, sel: sel(t, text), rand: rand.New(rand.NewPCG(uint64(i), 2))}
			c.follow(ctx, end, &final)
		})
	}
	watching.Go(func() { stormReader(t, pods, end) })
	writing.Wait()
	final = store.Revision()
	close(end)
	watching.Wait()
}

func stormWriter(t *testing.T, store storage.Store, r *rand.Rand, id, writes int, troubles []func()) {
	for i := range writes {
		if id == 0 && len(troubles) > 0 && i%100 == 99 {
			troubles[i/100%len(troubles)]()
		}
		ns := string("ab"[r.IntN(2)])
		ops := []storage.Op{put(fmt.Sprintf("%s/p%d n%d app=x%d %s", ns, r.IntN(20), r.IntN(4), r.IntN(4), []string{"Running", "Failed"}[r.IntN(2)]))}
		switch r.IntN(8) {
		case 0, 1:
			ops[0].Type, ops[0].Value = storage.Delete, nil
		case 2:
			ops[0] = put(fmt.Sprintf("%s/p%d", ns, r.IntN(20)))
		case 3:
			// Twins are always written together.
			ops = []storage.Op{put("a/twin n1 app=x1"), put("b/twin n2 app=x2"), ops[0]}
		}
		_, err := store.Commit(context.Background(), storage.Txn{Then: ops})
		if err != nil && !errors.Is(err, storage.ErrUnavailable) {
			t.Error(err)
			return
		}
	}
}

// stormReader checks that reads are of one revision and never go back.
func stormReader(t *testing.T, pods *watchcache.Cache, end chan struct{}) {
	var last storage.Revision
	for {
		select {
		case <-end:
			return
		default:
		}
		s, err := pods.Snapshot(context.Background(), watchcache.ReadAt{})
		if errors.Is(err, storage.ErrUnavailable) {
			continue
		}
		if err != nil {
			t.Error(err)
			return
		}
		if s.Revision() < last {
			t.Errorf("a read at %d after one at %d", s.Revision(), last)
		}
		last = s.Revision()
		a, b := one(s, "a", "twin"), one(s, "b", "twin")
		if (a == nil) != (b == nil) || a != nil && a.Revision() != b.Revision() {
			t.Errorf("snapshot at %d shows half a transaction", last)
		}
		for o := range list(s, watchcache.Selection{}, "", 0) {
			if o.Revision() > last {
				t.Errorf("snapshot at %d holds an object of %d", last, o.Revision())
			}
		}
		exact, err := pods.Snapshot(context.Background(), watchcache.ReadAt{Match: watchcache.Exact, Revision: last})
		if err != nil {
			if !errors.Is(err, storage.ErrCompacted) && !errors.Is(err, storage.ErrUnavailable) {
				t.Error(err)
			}
			continue
		}
		if x, y := names(exact, watchcache.Selection{}, "", 0), names(s, watchcache.Selection{}, "", 0); x != y {
			t.Errorf("exact read at %d: %s, then: %s", last, y, x)
		}
	}
}

// copyOf is a reader's own copy of a selection.
type copyOf struct {
	t    *testing.T
	pods *watchcache.Cache
	sel  watchcache.Selection
	rand *rand.Rand

	has      map[string]storage.Revision
	at, last storage.Revision
}

func (c *copyOf) relist() bool {
	s, err := c.pods.Snapshot(context.Background(), watchcache.ReadAt{})
	if err != nil {
		if !errors.Is(err, storage.ErrUnavailable) {
			c.t.Error(err)
		}
		return false
	}
	c.has = map[string]storage.Revision{}
	for o := range list(s, c.sel, "", 0) {
		c.has[o.Key()] = o.Revision()
	}
	c.at, c.last = s.Revision(), s.Revision()
	return true
}

// follow lists and watches until it has seen everything up to the end.
func (c *copyOf) follow(ctx context.Context, end chan struct{}, final *storage.Revision) {
	listed := false
	for !c.t.Failed() {
		if !listed {
			if listed = c.relist(); !listed {
				continue
			}
		}
		w, err := c.pods.Watch(ctx, c.sel, c.at)
		switch {
		case errors.Is(err, storage.ErrCompacted):
			listed = false
			continue
		case errors.Is(err, storage.ErrUnavailable):
			continue
		case err != nil:
			c.t.Error(err)
			return
		}
		done, err := c.read(w, end, final)
		w.Close()
		if done {
			c.compare(*final)
			return
		}
		listed = !errors.Is(err, storage.ErrCompacted)
	}
}

// read takes events until the end, an error, or a whim.
func (c *copyOf) read(w *watchcache.Watcher, end chan struct{}, final *storage.Revision) (bool, error) {
	for {
		events, progress, err := w.Next()
		if err != nil {
			if !errors.Is(err, storage.ErrCompacted) && !errors.Is(err, storage.ErrUnavailable) {
				c.t.Error(err)
			}
			return false, err
		}
		for _, ev := range events {
			c.apply(ev)
		}
		if c.last > progress {
			c.t.Errorf("progress %d after an event at %d", progress, c.last)
		}
		if c.at > progress {
			c.t.Errorf("progress went from %d to %d", c.at, progress)
		}
		c.at = progress
		select {
		case <-end:
			if c.at >= *final {
				return true, nil
			}
		default:
		}
		if c.rand.IntN(50) == 0 {
			return false, nil
		}
		if len(events) == 0 {
			select {
			case <-w.Bell():
			case <-end:
				// The rest is in the store already.
				if err := c.catchUp(*final); err != nil {
					c.t.Error(err)
					return false, err
				}
			}
		}
	}
}

func (c *copyOf) catchUp(rev storage.Revision) error {
	_, err := c.pods.Snapshot(context.Background(), watchcache.ReadAt{Match: watchcache.NotOlder, Revision: rev})
	if errors.Is(err, storage.ErrUnavailable) {
		return nil
	}
	return err
}

func (c *copyOf) apply(ev watchcache.Event) {
	key := ev.Object.Key()
	had, ok := c.has[key]
	if ev.Revision <= c.at || ev.Revision < c.last {
		c.t.Errorf("%s of %s at %d after %d", ev.Type, key, ev.Revision, c.at)
	}
	c.last = ev.Revision
	switch {
	case ev.Type == watch.Added && !ok, ev.Type == watch.Modified && ok && ev.Object.Revision() > had:
		if ev.Object.Revision() != ev.Revision {
			c.t.Errorf("%s at %d shows %d", ev.Type, ev.Revision, ev.Object.Revision())
		}
		c.has[key] = ev.Revision
	case ev.Type == watch.Deleted && ok && ev.Object.Revision() == had:
		delete(c.has, key)
	default:
		c.t.Errorf("%s of %s at %d (object %d), had %d, %t", ev.Type, key, ev.Revision, ev.Object.Revision(), had, ok)
	}
}

func (c *copyOf) compare(rev storage.Revision) {
	s, err := c.pods.Snapshot(context.Background(), watchcache.ReadAt{Match: watchcache.NotOlder, Revision: rev})
	if err != nil {
		c.t.Error(err)
		return
	}
	var got, want []string
	for key, rev := range c.has {
		got = append(got, fmt.Sprintf("%s@%d", key, rev))
	}
	slices.Sort(got)
	for o := range list(s, c.sel, "", 0) {
		want = append(want, fmt.Sprintf("%s@%d", o.Key(), o.Revision()))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.t.Errorf("%+v: the copy has\n%s\nthe list\n%s", c.sel, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
