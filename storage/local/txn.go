package local

import (
	"fmt"

	"fairlead.dev/storage"
)

// check says whether a transaction is well formed.
func check(t storage.Txn) error {
	for _, c := range t.If {
		if c.Key == "" || c.ModRevision < 0 {
			return fmt.Errorf("condition on key %q at %d: %w", c.Key, c.ModRevision, storage.ErrInvalid)
		}
	}
	for i, op := range t.Then {
		if op.Key == "" {
			return fmt.Errorf("an op without a key: %w", storage.ErrInvalid)
		}
		if op.Type != storage.Put && op.Type != storage.Delete {
			return fmt.Errorf("op of type %d on key %q: %w", op.Type, op.Key, storage.ErrInvalid)
		}
		for _, other := range t.Then[:min(i, fewOps)] {
			if other.Key == op.Key {
				return twiceError(op.Key)
			}
		}
	}
	if len(t.Then) > fewOps {
		seen := make(map[string]struct{}, len(t.Then))
		for _, op := range t.Then {
			if _, ok := seen[op.Key]; ok {
				return twiceError(op.Key)
			}
			seen[op.Key] = struct{}{}
		}
	}
	return nil
}

// fewOps is up to where comparing all with all beats a map.
const fewOps = 8

func twiceError(key string) error {
	return fmt.Errorf("key %q stands in two ops: %w", key, storage.ErrInvalid)
}

// try applies a checked transaction to the working state: its versions are put on
// their chains, where no reader looks yet, and appended to g. Store.work is held.
func (s *Store) try(t storage.Txn, g *group) storage.TxnResult {
	w := &s.work
	for i, c := range t.If {
		if kv := s.pending(c.Key); modRevision(kv) != c.ModRevision {
			return s.refused(t.If, i, kv)
		}
	}
	first := len(g.versions)
	for _, op := range t.Then {
		e, ok := w.tree.Get(op.Key)
		if !ok {
			if op.Type == storage.Delete {
				continue
			}
			e = &entry{}
			w.tree.Set(op.Key, e)
			w.grown = true
		}
		prev := e.head.Load()
		v := &version{sub: uint32(len(g.versions) - first), deleted: op.Type == storage.Delete}
		v.kv.Key, v.kv.ModRevision = op.Key, w.rev+1
		old := prev.live()
		if prev != nil {
			v.kv.Key = prev.kv.Key // one string for all versions
			v.prev.Store(prev)
		}
		switch {
		case v.deleted && old == nil:
			continue
		case v.deleted:
			g.keys--
		case old == nil:
			g.keys++
			v.kv.CreateRevision, v.kv.Version = w.rev+1, 1
		default:
			v.kv.CreateRevision, v.kv.Version = old.CreateRevision, old.Version+1
		}
		if !v.deleted {
			v.kv.Value, v.kv.Lease = op.Value, op.Lease
		}
		e.head.Store(v)
		g.versions = append(g.versions, v)
		g.bytes += len(v.kv.Key) + len(v.kv.Value) + recordHead
	}
	if len(g.versions) > first {
		w.rev++
		g.rev = w.rev
	}
	return storage.TxnResult{Succeeded: true, Revision: w.rev}
}

// refused tells what the keys of the conditions hold; the ith, which did not
// hold, was read already.
func (s *Store) refused(conds []storage.Condition, i int, kv *storage.KeyValue) storage.TxnResult {
	res := storage.TxnResult{Revision: s.work.rev, Current: make([]*storage.KeyValue, len(conds))}
	for j, c := range conds {
		if j == i {
			res.Current[j] = kv
		} else {
			res.Current[j] = s.pending(c.Key)
		}
	}
	return res
}

// pending is a key in the working state. Store.work is held.
func (s *Store) pending(key string) *storage.KeyValue {
	if e, ok := s.work.tree.Get(key); ok {
		return e.head.Load().live()
	}
	return nil
}

func modRevision(kv *storage.KeyValue) storage.Revision {
	if kv == nil {
		return 0
	}
	return kv.ModRevision
}
