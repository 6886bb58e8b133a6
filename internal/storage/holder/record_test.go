package holder_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/internal/storage/holder"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"k8s.io/apimachinery/pkg/types"
)

// cluster is the stores of a control plane.
type cluster struct {
	*testing.T
	stores []storage.Store
}

func open(t *testing.T, n int) *cluster {
	c := &cluster{T: t}
	for range n {
		s, err := local.Open("", local.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		c.stores = append(c.stores, s)
	}
	return c
}

// process is a candidate with its own connections to the stores.
type process struct {
	*cluster
	*holder.Record
	links  []*link
	stores []*holder.Store
}

// link is a connection that can be cut: leases are not kept alive then. Other requests are answered, as if they came late.
type link struct {
	storage.Store
	cut atomic.Bool
}

func (l *link) KeepAlive(ctx context.Context, id storage.LeaseID) (storage.Lease, error) {
	if l.cut.Load() {
		return storage.Lease{}, storage.ErrUnavailable
	}
	return l.Store.KeepAlive(ctx, id)
}

func (c *cluster) start(identity string) *process {
	p := &process{cluster: c}
	for _, s := range c.stores {
		p.links = append(p.links, &link{Store: s})
		p.stores = append(p.stores, &holder.Store{Store: p.links[len(p.links)-1]})
	}
	p.Record = holder.Open(p.stores, "/registry/fairlead-holders/", types.NamespacedName{Namespace: "kube-system", Name: "work"}, identity, slog.New(slog.DiscardHandler))
	c.Cleanup(p.Close)
	return p
}

// hold makes the process the holder, which has won the lease at the resourceVersion.
func (p *process) hold(version string) (work context.Context, end func()) {
	p.Helper()
	work, end, err := p.Hold(p.Context(), version)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(end)
	return work, end
}

// write creates a key in a store.
func (p *process) write(ctx context.Context, store int, key string) error {
	p.Helper()
	res, err := p.stores[store].Commit(ctx, storage.Txn{If: []storage.Condition{{Key: key}}, Then: []storage.Op{{Type: storage.Put, Key: key, Value: []byte("v")}}})
	if err == nil && !res.Succeeded && len(res.Current) != 1 {
		p.Errorf("%d values of one condition", len(res.Current))
	}
	if err == nil && !res.Succeeded {
		return errors.New("exists")
	}
	return err
}

// keys counts the keys that begin with /k in a store.
func (c *cluster) keys(store int) int64 {
	c.Helper()
	r, err := c.stores[store].Range(context.Background(), storage.RangeRequest{Start: "/k", End: "/l", CountOnly: true})
	if err != nil {
		c.Fatal(err)
	}
	return r.Count
}

// TestFormerHolderCannotWrite: from the moment when a process is recorded as the holder, no store accepts a write of the one before, whose context
// ends. It cannot become the holder again by the lease that it had.
func TestFormerHolderCannotWrite(t *testing.T) {
	c := open(t, 2)
	a, b := c.start("a"), c.start("b")
	workA, _ := a.hold("5")
	for store := range 2 {
		if err := a.write(workA, store, "/k1"); err != nil {
			t.Fatal(err)
		}
		if err := a.write(workA, store, "/k1"); err == nil || err.Error() != "exists" {
			t.Errorf("a condition of a write that fails: %v", err)
		}
	}
	workB, _ := b.hold("7")
	for store := range 2 {
		if err := a.write(context.WithoutCancel(workA), store, "/k2"); !errors.Is(err, holder.ErrReplaced) || !errors.Is(err, storage.ErrNotWritten) {
			t.Errorf("store %d: a write of the former holder: %v", store, err)
		}
		if n := c.keys(store); n != 1 {
			t.Errorf("store %d has %d keys", store, n)
		}
		if err := b.write(workB, store, "/k3"); err != nil {
			t.Error(err)
		}
	}
	<-workA.Done()
	if err := context.Cause(workA); !errors.Is(err, holder.ErrReplaced) {
		t.Errorf("the former holder's context ended by %v", err)
	}
	if _, _, err := a.Hold(t.Context(), "5"); !errors.Is(err, holder.ErrReplaced) {
		t.Errorf("recorded by an old lease: %v", err)
	}
	if err := b.write(workB, 0, "/k4"); err != nil {
		t.Error(err)
	}
	if err := a.write(t.Context(), 0, "/k5"); err != nil {
		t.Errorf("a write outside of the work: %v", err)
	}
	workA, _ = a.hold("9")
	if err := a.write(workA, 1, "/k6"); err != nil {
		t.Errorf("the holder again: %v", err)
	}
}

// TestGone: other candidates see when the holder's connection is cut, when it is back, and when the work has ended. The work of a
// process that nothing has replaced goes on.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, 1)
		a, b := c.start("a"), c.start("b")
		synctest.Wait()
		if b.Gone("a") {
			t.Error("a process is gone that was never the holder")
		}
		work, end := a.hold("5")
		until := func(gone bool) time.Duration {
			begin := time.Now()
			for b.Gone("a") != gone {
				<-b.Changed()
			}
			return time.Since(begin)
		}
		time.Sleep(time.Hour)
		if synctest.Wait(); b.Gone("a") || b.Gone("b") {
			t.Error("the holder is gone")
		}
		a.links[0].cut.Store(true)
		if took := until(true); took < holder.TTL/2 || took > 2*holder.TTL {
			t.Errorf("the holder was gone after %s", took)
		}
		a.links[0].cut.Store(false)
		until(false)
		if err := a.write(work, 0, "/k1"); err != nil {
			t.Errorf("the work goes on: %v", err)
		}
		end()
		if took := until(true); took != 0 {
			t.Errorf("the holder was gone %s after its end", took)
		}
	})
}

// TestRecordOfAnotherKind: a value that is no record is an error, and is not replaced.
func TestRecordOfAnotherKind(t *testing.T) {
	c := open(t, 1)
	a := c.start("a")
	_, err := c.stores[0].Commit(t.Context(), storage.Txn{Then: []storage.Op{{Type: storage.Put, Key: "/registry/fairlead-holders/kube-system/work/holder", Value: []byte("?")}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Hold(t.Context(), "5"); err == nil {
		t.Error("no error")
	}
	if _, _, err := a.Hold(t.Context(), "x"); err == nil {
		t.Error("no error for a resourceVersion that is no number")
	}
}
