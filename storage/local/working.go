package local

import (
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/leases"
	"fairlead.dev/internal/storage/mvcc"
)

// working is the state that commits are tried against: it is ahead of the published one by the
// groups that are being written.
type working struct {
	published *published
	noSync    []string // Options.NoSync

	// mu is taken before published.mu.
	mu struct {
		sync.Mutex
		tree   mvcc.Tree
		rev    storage.Revision
		leases leases.Table
		// grown: tree holds keys that no copy of it holds.
		grown bool
		quota quota
	}
}

// try tries calls and adds them to g. working.mu is held.
func (w *working) try(g *group, calls []*call) {
	for _, call := range calls {
		if call.order != nil {
			call.err = call.order(g)
		} else {
			call.res, call.err = w.apply(call.txn, g)
		}
		g.calls = append(g.calls, call)
	}
	if w.mu.grown {
		g.tree, w.mu.grown = w.mu.tree.Copy(), false
	}
}

// apply applies a checked transaction to the working state: its versions are put on their chains,
// where no reader reads yet, and appended to g. working.mu is held.
func (w *working) apply(t storage.Txn, g *group) (storage.TxnResult, error) {
	for _, c := range t.If {
		if c.End != "" {
			if same, err := w.unchanged(c); err != nil {
				return storage.TxnResult{}, err
			} else if !same {
				return w.failedConditions(t.If), nil
			}
		} else if modRevision(w.pending(c.Key).Present()) != c.ModRevision {
			return w.failedConditions(t.If), nil
		}
	}
	for _, op := range t.Then {
		if op.Lease != 0 && w.mu.leases.Find(op.Lease) == nil {
			return storage.TxnResult{}, leases.Error(op.Lease, storage.ErrLeaseNotFound)
		}
	}
	if err := w.admit(t.Then); err != nil {
		return storage.TxnResult{}, err
	}
	first := len(g.Versions)
	for _, op := range t.Then {
		if op.End == "" {
			w.write(op, g, first)
			continue
		}
		w.mu.tree.Ascend(op.Key, func(key string, e *mvcc.Entry) bool {
			if (mvcc.Span{Start: op.Key, End: op.End}).Below(key) {
				return false
			}
			w.put(e, storage.Op{Type: storage.Delete, Key: key}, g, first)
			return true
		})
	}
	w.finish(g, first)
	return storage.TxnResult{Succeeded: true, Revision: w.mu.rev, Changed: len(g.Versions) > first}, nil
}

// finish ends the transaction whose versions in g begin at first.
func (w *working) finish(g *group, first int) {
	if len(g.Versions) > first {
		w.mu.rev++
		g.Rev = w.mu.rev
	}
}

// write applies an op on one key. working.mu is held.
func (w *working) write(op storage.Op, g *group, first int) {
	e, ok := w.mu.tree.Get(op.Key)
	if !ok {
		if op.Type == storage.Delete {
			return
		}
		e = &mvcc.Entry{}
		w.mu.tree.Set(op.Key, e)
		w.mu.grown = true
	}
	w.put(e, op, g, first)
}

// put puts a version on a chain. working.mu is held.
func (w *working) put(e *mvcc.Entry, op storage.Op, g *group, first int) {
	prev := e.Head.Load()
	old := prev.Present()
	if op.Type == storage.Delete && old == nil {
		return
	}
	kv := storage.KeyValue{Key: op.Key, ModRevision: w.mu.rev + 1}
	if prev != nil {
		kv.Key = prev.KV().Key // one string for all versions
	}
	switch {
	case op.Type == storage.Delete:
	case old == nil:
		kv.CreateRevision, kv.Version = w.mu.rev+1, 1
	default:
		kv.CreateRevision, kv.Version = old.CreateRevision, old.Version+1
	}
	if op.Type == storage.Put {
		kv.Value, kv.Lease = op.Value, op.Lease
	}
	v := mvcc.NewVersion(kv, uint32(len(g.Versions)-first), op.Type == storage.Delete)
	v.Prev.Store(prev)
	g.live.Replace(prev, v)
	w.mu.quota.replaced(prev, v)
	w.mu.leases.Rebind(old, v.Present())
	e.Head.Store(v)
	g.Add(v, !hasPrefix(kv.Key, w.noSync))
}

// unchanged evaluates a condition on a range. Tombstones that are not compacted are still in the
// tree. working.mu is held.
func (w *working) unchanged(c storage.Condition) (bool, error) {
	if compacted := w.published.state.Load().compacted; c.ModRevision < compacted {
		return false, compactedError(c.ModRevision, compacted)
	}
	same := true
	w.mu.tree.Ascend(c.Key, func(key string, e *mvcc.Entry) bool {
		if (mvcc.Span{Start: c.Key, End: c.End}).Below(key) {
			return false
		}
		same = e.Head.Load().KV().ModRevision <= c.ModRevision
		return same
	})
	return same, nil
}

// failedConditions returns the present values of the conditions' keys.
func (w *working) failedConditions(conds []storage.Condition) storage.TxnResult {
	res := storage.TxnResult{Revision: w.mu.rev, Current: make([]*storage.KeyValue, len(conds))}
	for i, c := range conds {
		if c.End == "" {
			res.Current[i] = w.pending(c.Key).Live()
		}
	}
	return res
}

// pending returns the last version of a key in the working state, nil without one. working.mu is held.
func (w *working) pending(key string) *mvcc.Version {
	if e, ok := w.mu.tree.Get(key); ok {
		return e.Head.Load()
	}
	return nil
}

func modRevision(kv *storage.KeyValue) storage.Revision {
	if kv == nil {
		return 0
	}
	return kv.ModRevision
}

// endLease deletes a lease and its keys. working.mu is held.
func (w *working) endLease(id storage.LeaseID, g *group) error {
	n := w.mu.leases.Find(id)
	if n == nil {
		return leases.Error(id, storage.ErrLeaseNotFound)
	}
	first := len(g.Versions)
	for _, key := range n.Describe(time.Time{}, true).Keys {
		w.write(storage.Op{Type: storage.Delete, Key: key}, g, first)
	}
	w.finish(g, first)
	w.mu.leases.End(n)
	g.Leases = append(g.Leases, leases.Record{ID: id})
	return nil
}

// hasPrefix reports whether a key has one of the prefixes.
func hasPrefix(key string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}
