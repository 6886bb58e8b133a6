package watchcache

import (
	"context"
	"time"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

// A Version is a state of one object, or its absence after a deletion, as the write that began it.
type Version struct {
	Revision storage.Revision
	// Object is nil after a deletion. Previous is the state before, nil if there was none or it is
	// compacted.
	Object, Previous *Object
	// Err reports that the state, or the one before, cannot be read; it is then nil.
	Err error
	// After and By bound the time of the write; see storage.Version.
	After, By time.Time
}

// Life returns the revision of the creation of the object that the version is a state of. An
// object of the same name that is created after a deletion has another one.
func (v *Version) Life() storage.Revision {
	switch {
	case v.Object != nil:
		return v.Object.CreateRevision()
	case v.Previous != nil:
		return v.Previous.CreateRevision()
	}
	return 0
}

// Versions are states of one object, the newest first; see storage.VersionsResult.
type Versions struct {
	List                []Version
	More                bool
	Revision, Compacted storage.Revision
}

// Versions returns the states of one object that the store keeps, below the revision before if that
// is not 0, and at most limit of them. Errors: storage.ErrUnavailable, storage.ErrClosed.
func (c *Cache) Versions(ctx context.Context, namespace, name string, before storage.Revision, limit int) (Versions, error) {
	r, err := c.store.Versions(ctx, storage.VersionsRequest{Key: c.Key(namespace, name), Before: before, Limit: limit})
	if err != nil {
		return Versions{}, err
	}
	out := Versions{List: make([]Version, len(r.Versions)), More: r.More, Revision: r.Revision, Compacted: r.Compacted}
	objects := map[*storage.KeyValue]*Object{} // most are the Previous of another one
	for i := range r.Versions {
		from, to := &r.Versions[i], &out.List[i]
		to.Revision, to.After, to.By = from.Revision(), from.After, from.By
		if from.Type == storage.Put {
			to.Object, to.Err = c.versionObject(objects, from.KV)
		}
		if from.Prev != nil {
			var err error
			if to.Previous, err = c.versionObject(objects, from.Prev); to.Err == nil {
				to.Err = err
			}
		}
	}
	return out, nil
}

// versionObject returns the object of a stored key, from those made before.
func (c *Cache) versionObject(made map[*storage.KeyValue]*Object, kv *storage.KeyValue) (*Object, error) {
	if o := made[kv]; o != nil {
		return o, nil
	}
	o, err := object.New(kv, c.resource.kind)
	if err != nil {
		return nil, err
	}
	made[kv] = o
	return o, nil
}
