package local

import (
	"fmt"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/leases"
)

// MaxTxnBytes bounds the keys and values in the ops of a transaction. It is etcd's default, so a
// transaction that fits here fits there.
const MaxTxnBytes = 1536 << 10

// check reports whether a transaction is well formed.
func check(t storage.Txn) error {
	for _, c := range t.If {
		if c.Key == "" || c.ModRevision < 0 || c.End != "" && c.ModRevision == 0 {
			return fmt.Errorf("condition on key %q at %d: %w", c.Key, c.ModRevision, storage.ErrInvalid)
		}
	}
	ranges, size := false, 0
	for _, op := range t.Then {
		size += len(op.Key) + len(op.End) + len(op.Value)
		switch {
		case op.Key == "":
			return fmt.Errorf("an op without a key: %w", storage.ErrInvalid)
		case op.Type == storage.Put && op.End != "":
			return fmt.Errorf("a put of the range %q: %w", op.Key, storage.ErrInvalid)
		case op.Type != storage.Put && op.Type != storage.Delete:
			return fmt.Errorf("op of type %d on key %q: %w", op.Type, op.Key, storage.ErrInvalid)
		}
		ranges = ranges || op.End != ""
	}
	if size > MaxTxnBytes {
		return fmt.Errorf("%w: %d bytes, limit is %d", storage.ErrTooLarge, size, MaxTxnBytes)
	}
	if len(t.Then) <= fewOps || ranges {
		for i, op := range t.Then {
			for _, other := range t.Then[:i] {
				if clash(op, other) {
					return duplicateKeyError(op.Key)
				}
			}
		}
		return nil
	}
	seen := make(map[string]storage.EventType, len(t.Then))
	for _, op := range t.Then {
		if was, ok := seen[op.Key]; ok && (was == storage.Put || op.Type == storage.Put) {
			return duplicateKeyError(op.Key)
		}
		seen[op.Key] = op.Type
	}
	return nil
}

// fewOps is the number of ops up to which comparing all pairs beats a map.
const fewOps = 8

// clash reports whether a key that one op puts is in the other op.
func clash(a, b storage.Op) bool {
	switch {
	case a.Type == storage.Put:
		return span{b.Key, b.End}.has(a.Key)
	case b.Type == storage.Put:
		return span{a.Key, a.End}.has(b.Key)
	}
	return false
}

func duplicateKeyError(key string) error {
	return fmt.Errorf("key %q stands in two ops: %w", key, storage.ErrInvalid)
}

// apply applies a checked transaction to the working state: its versions are put on their chains,
// where no reader reads yet, and appended to g. Store.work is held.
func (s *Store) apply(t storage.Txn, g *group) (storage.TxnResult, error) {
	w := &s.work
	for i, c := range t.If {
		if c.End != "" {
			if same, err := s.unchanged(c); err != nil {
				return storage.TxnResult{}, err
			} else if !same {
				return s.failedConditions(t.If, i, nil), nil
			}
		} else if kv := s.pending(c.Key); modRevision(kv) != c.ModRevision {
			return s.failedConditions(t.If, i, kv), nil
		}
	}
	for _, op := range t.Then {
		if op.Lease != 0 && w.leases.Find(op.Lease) == nil {
			return storage.TxnResult{}, leases.Error(op.Lease, storage.ErrLeaseNotFound)
		}
	}
	first := len(g.versions)
	for _, op := range t.Then {
		if op.End == "" {
			s.write(op, g, first)
			continue
		}
		w.tree.Ascend(op.Key, func(key string, e *entry) bool {
			if (span{op.Key, op.End}).below(key) {
				return false
			}
			s.put(e, storage.Op{Type: storage.Delete, Key: key}, g, first)
			return true
		})
	}
	s.finish(g, first)
	return storage.TxnResult{Succeeded: true, Revision: w.rev, Changed: len(g.versions) > first}, nil
}

// finish ends the transaction whose versions in g begin at first.
func (s *Store) finish(g *group, first int) {
	if len(g.versions) > first {
		s.work.rev++
		g.rev = s.work.rev
	}
}

// write applies an op on one key. Store.work is held.
func (s *Store) write(op storage.Op, g *group, first int) {
	e, ok := s.work.tree.Get(op.Key)
	if !ok {
		if op.Type == storage.Delete {
			return
		}
		e = &entry{}
		s.work.tree.Set(op.Key, e)
		s.work.grown = true
	}
	s.put(e, op, g, first)
}

// put puts a version on a chain. Store.work is held.
func (s *Store) put(e *entry, op storage.Op, g *group, first int) {
	w := &s.work
	prev := e.head.Load()
	old := prev.live()
	if op.Type == storage.Delete && old == nil {
		return
	}
	kv := storage.KeyValue{Key: op.Key, ModRevision: w.rev + 1}
	if prev != nil {
		kv.Key = prev.kv().Key // one string for all versions
	}
	switch {
	case op.Type == storage.Delete:
	case old == nil:
		kv.CreateRevision, kv.Version = w.rev+1, 1
	default:
		kv.CreateRevision, kv.Version = old.CreateRevision, old.Version+1
	}
	if op.Type == storage.Put {
		kv.Value, kv.Lease = op.Value, op.Lease
	}
	v := newVersion(kv, uint32(len(g.versions)-first), op.Type == storage.Delete)
	v.prev.Store(prev)
	g.live.replace(prev, v)
	w.leases.Rebind(old, v.live())
	e.head.Store(v)
	g.versions = append(g.versions, v)
	g.sync = g.sync || !s.opts.needsNoSync(kv.Key)
	g.bytes += len(kv.Key) + len(kv.Value) + recordHead
}

// unchanged evaluates a condition on a range. Tombstones that are not compacted are still in the
// tree. Store.work is held.
func (s *Store) unchanged(c storage.Condition) (bool, error) {
	if compacted := s.Compacted(); c.ModRevision < compacted {
		return false, compactedError(c.ModRevision, compacted)
	}
	same := true
	s.work.tree.Ascend(c.Key, func(key string, e *entry) bool {
		if (span{c.Key, c.End}).below(key) {
			return false
		}
		same = e.head.Load().kv().ModRevision <= c.ModRevision
		return same
	})
	return same, nil
}

// failedConditions returns the values of the conditions' keys; that of the ith, which did not hold, was read
// already.
func (s *Store) failedConditions(conds []storage.Condition, i int, kv *storage.KeyValue) storage.TxnResult {
	res := storage.TxnResult{Revision: s.work.rev, Current: make([]*storage.KeyValue, len(conds))}
	for j, c := range conds {
		switch {
		case c.End != "":
		case j == i:
			res.Current[j] = kv
		default:
			res.Current[j] = s.pending(c.Key)
		}
	}
	return res
}

// pending returns a key in the working state. Store.work is held.
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
