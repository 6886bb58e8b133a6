package write

import (
	"errors"
	"time"

	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// commit writes or deletes an object and its companions, on the condition that the object is
// at the revision.
func (c *Operation) commit(w *Written, at storage.Revision, t storage.EventType) (storage.TxnResult, error) {
	op := storage.Op{Type: t, Key: w.key}
	txn := storage.Txn{If: append(c.Registry.Fence(c.Endpoint, storage.Condition{Key: w.key, ModRevision: at}), w.with.conditions...)}
	if t == storage.Delete {
		txn.Then = append([]storage.Op{op}, w.with.ops...)
		return c.commitTxn(txn, at)
	}
	op.Value = w.value
	for {
		if c.Endpoint.Strategy.Expires {
			var err error
			if op.Lease, err = c.w.leases.lease(c.Context, c.Endpoint.Shard, c.w.EventTTL); err != nil {
				return storage.TxnResult{}, err
			}
		}
		txn.Then = append([]storage.Op{op}, w.with.ops...)
		res, err := c.commitTxn(txn, at)
		if op.Lease == 0 || !errors.Is(err, storage.ErrLeaseNotFound) {
			return res, err
		}
		c.w.leases.forget(c.Endpoint.Shard, op.Lease)
	}
}

// commitObject writes an object on the condition that it is at the revision. A value that is
// too large for the store is written without its managed fields, which may be half of it, as
// kube-apiserver does. An apply fails instead.
func (c *Operation) commitObject(w *Written, at storage.Revision) (storage.TxnResult, error) {
	res, err := c.commit(w, at, storage.Put)
	if !errors.Is(err, storage.ErrTooLarge) || c.keepsManagedFields || w.obj == nil || len(w.obj.GetManagedFields()) == 0 {
		return res, err
	}
	w.obj.SetManagedFields(nil)
	w.value, _ = managed.Cut(w.value)
	return c.commit(w, at, storage.Put)
}

// commitTxn commits a transaction and calls Config.Written before the request is answered. at
// is the revision that the condition on the object names.
func (c *Operation) commitTxn(t storage.Txn, at storage.Revision) (storage.TxnResult, error) {
	res, err := c.w.Committer.Commit(c.Call, t)
	switch {
	case err != nil:
	case !res.Succeeded && c.Endpoint.Redefinable && failedByDefinition(res.Current, at):
		err = endpoint.ErrRedefined
	case res.Succeeded && !c.internal:
		if f := c.w.Written[c.Endpoint.ServedGR]; f != nil {
			f(c.Context, res.Revision)
		}
	}
	return res, err
}

// failedByDefinition reports, by the present values of a failed transaction's keys, that only
// the condition on the definition has failed.
func failedByDefinition(current []*storage.KeyValue, at storage.Revision) bool {
	if len(current) < 2 {
		return false
	}
	if current[0] == nil {
		return at == 0
	}
	return current[0].ModRevision == at
}

// StoreCommitter commits to the store of the call's endpoint.
type StoreCommitter struct {
	// Requests counts the transactions.
	Requests *metrics.StoreRequests
}

// Commit implements Committer.
func (s StoreCommitter) Commit(c *call.Call, t storage.Txn) (storage.TxnResult, error) {
	start := time.Now()
	res, err := c.Endpoint.Shard.Store.Commit(c.Context, t)
	watchcache.Wrote(c.Context)
	gr := c.Endpoint.ServedGR
	s.Requests.Observe(metrics.StoreRequest{Operation: operationOf(t), Group: gr.Group, Resource: gr.Resource}, start, err)
	return res, err
}

// operationOf returns the name in metrics of a transaction, whose first write is that of its object.
func operationOf(t storage.Txn) string {
	if t.Then[0].Type == storage.Delete {
		return "delete"
	}
	for _, c := range t.If {
		if c.Key == t.Then[0].Key && c.ModRevision == 0 {
			return "create"
		}
	}
	return "update"
}
