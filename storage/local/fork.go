package local

import (
	"context"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/engine"
	"fairlead.dev/internal/storage/leases"
	"fairlead.dev/internal/storage/mvcc"
)

// ForkOptions configure Fork. Of the Options, History, MaxBytes, Trace and Logger are used.
type ForkOptions struct {
	Options
	// Without are prefixes of keys that the fork does not have.
	Without []string
}

// Fork returns a store in memory that begins with the content of s at a revision; 0 is the current one. From then on the
// two are independent: a change of one is not in the other, and either may be closed. They share the memory of the
// values. The fork has no history of before its first revision, so watches and reads below it return
// storage.ErrCompacted. Its leases end when those of s would; a key whose lease has ended since
// the revision is left out.
//
// A fork costs time and memory for each key, and none for values and history; see BenchmarkFork. Errors:
// storage.ErrCompacted, storage.ErrFutureRevision, storage.ErrClosed.
func (s *Store) Fork(ctx context.Context, at storage.Revision, f ForkOptions) (*Store, error) {
	o := f.Options
	o.InMemory = true
	o = o.withDefaults()
	img, err := s.image(ctx, at, f.Without)
	if err != nil {
		return nil, err
	}
	fork := &Store{}
	fork.failure.init(o.Logger)
	fork.assemble(o, img)
	fork.start(o)
	fork.failure.open()
	return fork, nil
}

// image returns the content of the store at a revision, except keys with the prefixes, with versions of its own.
func (s *Store) image(ctx context.Context, at storage.Revision, without []string) (*engine.Image, error) {
	all, err := s.published.read(ctx, storage.RangeRequest{End: storage.NoEnd, Revision: at})
	if err != nil {
		return nil, err
	}
	// Read afterwards, they include all leases to which a key is bound and which have not ended.
	var kept leases.Table
	if err := s.order(ctx, func(*group) error { kept = s.working.mu.leases.Copy(); return nil }); err != nil {
		return nil, err
	}
	img := engine.NewImage()
	if img.Leases = kept; all.Revision > img.Rev { // an empty store has no history that is missing
		img.Rev, img.Compacted = all.Revision, all.Revision
	}
	for _, kv := range all.KVs {
		if kv.Lease != 0 && kept.Find(kv.Lease) == nil || hasPrefix(kv.Key, without) {
			continue
		}
		v, e := mvcc.NewVersion(*kv, 0, false), &mvcc.Entry{}
		e.Head.Store(v)
		img.Tree.Load(kv.Key, e)
		img.Live.Replace(nil, v)
		img.Leases.Rebind(nil, kv)
	}
	return img, nil
}
