package encryption

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Store returns the store with commits that encrypt.
func (k *Keys) Store(s storage.Store) storage.Store { return store{s, k} }

// store encrypts what is committed. What it reads is as it is stored.
type store struct {
	storage.Store
	keys *Keys
}

// Commit implements storage.Store. The values in TxnResult.Current are decrypted, as far as they can be.
func (s store) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	t.Then = slices.Clone(t.Then)
	for i := range t.Then {
		op := &t.Then[i]
		if op.Type != storage.Put {
			continue
		}
		sealed, err := s.keys.seal(ctx, op.Key, op.Value)
		if err != nil {
			return storage.TxnResult{}, fmt.Errorf("%w: %w", storage.ErrNotWritten, apierrors.NewInternalError(err))
		}
		op.Value = sealed
	}
	res, err := s.Store.Commit(ctx, t)
	for i, kv := range res.Current {
		if kv == nil {
			continue
		}
		if opened, err := s.keys.Open(kv, false); err == nil {
			plain := *kv
			plain.Value = opened
			res.Current[i] = &plain
		}
	}
	return res, err
}
