package local

import (
	"context"
	"time"

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
	return begin(o, img), nil
}

// RestoreInMemory returns a store in memory that holds kvs, each at its revisions, and leases, with their full TTL. It is at
// revision r, which none of kvs exceeds, and has no history of before. Of the Options, History, MaxBytes, Trace and Logger
// are used.
func RestoreInMemory(o Options, r storage.Revision, kvs []*storage.KeyValue, all []storage.Lease) *Store {
	o.InMemory = true
	img := engine.NewImage()
	img.Rev, img.Compacted = r, r
	now := time.Now()
	for _, l := range all {
		img.Leases.Grant(l.ID, l.TTL, now)
	}
	for _, kv := range kvs {
		load(img, mvcc.NewVersion(*kv, 0, false))
	}
	return begin(o.withDefaults(), img)
}

// begin returns a store in memory with the content of img.
func begin(o Options, img *engine.Image) *Store {
	s := &Store{}
	s.failure.init(o.Logger)
	s.assemble(o, img)
	s.start(o, img.Packer)
	s.failure.open()
	return s
}

// load adds a version to the content of a store.
func load(img *engine.Image, v *mvcc.Version) {
	kv, e := v.KV(), &mvcc.Entry{}
	e.Head.Store(v)
	img.Tree.Load(kv.Key, e)
	img.Live.Replace(nil, v)
	img.Leases.Rebind(nil, kv)
}

// image returns the content of the store at a revision, except keys with the prefixes, with versions of its own.
func (s *Store) image(ctx context.Context, at storage.Revision, without []string) (*engine.Image, error) {
	var versions []*mvcc.Version
	err := s.published.view(ctx, at, func(st *state, rev storage.Revision) {
		at, versions = rev, make([]*mvcc.Version, 0, st.tree.Len())
		st.tree.Scan(func(_ string, e *mvcc.Entry) bool {
			if v := e.At(rev); v != nil {
				versions = append(versions, e.Copy(v))
			}
			return true
		})
	})
	if err != nil {
		return nil, err
	}
	// Read afterwards, they include all leases to which a key is bound and which have not ended.
	var kept leases.Table
	if err := s.order(ctx, func(*group) error { kept = s.working.mu.leases.Copy(); return nil }); err != nil {
		return nil, err
	}
	img := engine.NewImage()
	if img.Leases = kept; at > img.Rev { // an empty store has no history that is missing
		img.Rev, img.Compacted = at, at
	}
	for _, v := range versions {
		kv := v.KV()
		if kv.Lease != 0 && kept.Find(kv.Lease) == nil || hasPrefix(kv.Key, without) {
			continue
		}
		load(img, v)
	}
	return img, nil
}
