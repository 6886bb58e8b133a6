package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"fairlead.dev/internal/server/managed"
	"fairlead.dev/storage"
)

// commit writes or deletes an object and its companions, on the condition that the object is
// at the revision.
func (c *call) commit(w *written, at storage.Revision, t storage.EventType) (storage.TxnResult, error) {
	op := storage.Op{Type: t, Key: w.key}
	txn := storage.Txn{If: append(c.fenced(storage.Condition{Key: w.key, ModRevision: at}), w.with.conditions...)}
	if t == storage.Delete {
		txn.Then = append([]storage.Op{op}, w.with.ops...)
		return c.commitTxn(txn, at)
	}
	op.Value = w.value
	for {
		if c.ep.Strategy.Expires {
			var err error
			if op.Lease, err = c.s.events.lease(c.ctx, c.s.cfg.Store); err != nil {
				return storage.TxnResult{}, err
			}
		}
		txn.Then = append([]storage.Op{op}, w.with.ops...)
		res, err := c.commitTxn(txn, at)
		if op.Lease == 0 || !errors.Is(err, storage.ErrLeaseNotFound) {
			return res, err
		}
		c.s.events.forget(op.Lease)
	}
}

// commitObject writes an object on the condition that it is at the revision. A value that is
// too large for the store is written without its managed fields, which may be half of it, as
// kube-apiserver does. An apply fails instead.
func (c *call) commitObject(w *written, at storage.Revision) (storage.TxnResult, error) {
	res, err := c.commit(w, at, storage.Put)
	if !errors.Is(err, storage.ErrTooLarge) || c.applies || w.obj == nil || len(w.obj.GetManagedFields()) == 0 {
		return res, err
	}
	w.obj.SetManagedFields(nil)
	w.value, _ = managed.Cut(w.value)
	return c.commit(w, at, storage.Put)
}

// commitTxn commits a transaction and calls Config.Written before the request is answered. at
// is the revision that the condition on the object names.
func (c *call) commitTxn(t storage.Txn, at storage.Revision) (storage.TxnResult, error) {
	c.stampQueued()
	res, err := c.s.cfg.Store.Commit(c.ctx, t)
	if err == nil && res.Changed {
		c.traceWrite(res.Revision)
	}
	switch {
	case err != nil:
	case !res.Succeeded && c.ep.Redefinable && failedByDefinition(res.Current, at):
		err = errRedefined
	case res.Succeeded && !c.quiet:
		if f := c.s.cfg.Written[c.ep.ServedGR]; f != nil {
			f(c.ctx, res.Revision)
		}
	}
	return res, err
}

// lifetime hands out leases of one TTL. Keys written within a twentieth of the TTL share a
// lease, which lives that much longer, so no key expires early.
type lifetime struct {
	ttl time.Duration // not above 0: for ever
	mu  struct {
		sync.Mutex
		id    storage.LeaseID
		until time.Time // from then on a new one is used
	}
}

func (l *lifetime) lease(ctx context.Context, s storage.Leaser) (storage.LeaseID, error) {
	if l.ttl <= 0 {
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.mu.id != 0 && now.Before(l.mu.until) {
		return l.mu.id, nil
	}
	shared := l.ttl / 20
	got, err := s.Grant(ctx, 0, l.ttl+shared)
	if err != nil {
		return 0, err
	}
	l.mu.id, l.mu.until = got.ID, now.Add(shared)
	return got.ID, nil
}

// forget stops handing out a lease that has expired.
func (l *lifetime) forget(id storage.LeaseID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.id == id {
		l.mu.id = 0
	}
}
