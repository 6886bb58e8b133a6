package inject

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// Breaker carries out the immediate effects of faults on a server. It implements
// faults.Breaker.
type Breaker struct {
	Stores  []storage.Store
	Streams *watch.Streams
	Objects auth.Lookup
	Trace   *trace.Log
}

// Changed implements faults.Breaker.
func (b *Breaker) Changed() { b.Streams.Wake() }

// Drop implements faults.Breaker.
func (b *Breaker) Drop(id uint64, meant func(faults.Target) bool) int {
	return b.Streams.Drop(id, meant)
}

// Expire implements faults.Breaker.
func (b *Breaker) Expire(ctx context.Context, id uint64) (n int, err error) {
	for _, s := range b.Stores {
		ended, err := b.expireIn(ctx, id, s)
		if n += ended; err != nil {
			return n, err
		}
	}
	return n, nil
}

// expireIn ends the leases of one store.
func (b *Breaker) expireIn(ctx context.Context, id uint64, store storage.Store) (n int, err error) {
	leases, err := store.Leases(ctx)
	if err != nil {
		return 0, err
	}
	before, err := store.Current(ctx)
	if err != nil {
		return 0, err
	}
	keys := map[string]bool{}
	for _, l := range leases {
		lease, err := store.Lease(ctx, l)
		if err != nil || len(lease.Keys) == 0 { // expired, or without keys
			continue
		}
		for _, k := range lease.Keys {
			keys[k] = true
		}
		if store.Revoke(ctx, l) == nil {
			n++
		}
	}
	return n, b.expired(ctx, id, store, before, keys)
}

// expired enters into the trace the keys whose deletion a fault has caused by ending leases:
// the deletions of these keys since a revision.
func (b *Breaker) expired(ctx context.Context, id uint64, store storage.Store, since storage.Revision, keys map[string]bool) error {
	now, err := store.Current(ctx)
	if err != nil || now == since {
		return err
	}
	cur, err := store.Watch(storage.WatchRequest{Start: "/", End: storage.PrefixEnd("/"), After: since})
	if err != nil {
		return err
	}
	defer cur.Close()
	for cur.Want(now); ; {
		batch, err := cur.Next()
		if err != nil {
			return err
		}
		for _, e := range batch.Events {
			if e.Type == storage.Delete && keys[e.KV.Key] {
				b.Trace.FaultInjected(trace.InjectedFault{
					Fault: id, Action: string(faults.Expire), What: "its lease was ended", Revision: int64(e.Revision()),
				})
			}
		}
		if batch.Progress >= now {
			return nil
		}
		select {
		case <-cur.Bell():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Held implements faults.Breaker.
func (b *Breaker) Held(ctx context.Context, meant func(faults.Target) bool) (map[string]string, error) {
	all, err := b.Objects.List(ctx, schema.ParseGroupResource(faults.Leases), "")
	if err != nil {
		return nil, err
	}
	held := map[string]string{}
	for _, obj := range all {
		l, ok := obj.(*coordinationv1.Lease)
		if ok && ptr.Deref(l.Spec.HolderIdentity, "") != "" && meant(faults.Target{Resource: faults.Leases, Namespace: l.Namespace, Name: l.Name}) {
			held[string(l.UID)] = *l.Spec.HolderIdentity
		}
	}
	return held, nil
}
