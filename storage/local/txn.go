package local

import (
	"fmt"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
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
		return mvcc.Span{Start: b.Key, End: b.End}.Has(a.Key)
	case b.Type == storage.Put:
		return mvcc.Span{Start: a.Key, End: a.End}.Has(b.Key)
	}
	return false
}

func duplicateKeyError(key string) error {
	return fmt.Errorf("key %q stands in two ops: %w", key, storage.ErrInvalid)
}
