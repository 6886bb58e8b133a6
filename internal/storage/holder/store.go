package holder

import (
	"context"
	"fmt"

	"fairlead.dev/storage"
)

// Store refuses the writes of former holders: those whose context is one of Record.Hold.
type Store struct{ storage.Store }

// fence is in the context of a holder's work: the key holder, and its revision in each store.
type fence struct {
	key    string
	tokens map[*Store]storage.Revision
}

type fenceKey struct{}

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	f, ok := ctx.Value(fenceKey{}).(fence)
	if !ok {
		return s.Store.Commit(ctx, t)
	}
	own := len(t.If)
	t.If = append(t.If[:own:own], storage.Condition{Key: f.key, ModRevision: f.tokens[s]})
	res, err := s.Store.Commit(ctx, t)
	if err != nil || res.Succeeded {
		return res, err
	}
	if at := res.Current[own]; at == nil || at.ModRevision != f.tokens[s] {
		return storage.TxnResult{}, fmt.Errorf("%w: %w", storage.ErrNotWritten, ErrReplaced)
	}
	res.Current = res.Current[:own]
	return res, nil
}
