package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/leases"
)

// An image is the state with which a store begins.
type image struct {
	rev, compacted storage.Revision
	tree           tree
	log            view
	live           size
	marks          []mark
	leases         leases.Table
	// kept is the size of the records that count; garbage are those that were compacted.
	kept    int64
	garbage garbage
}

// newImage returns the empty store, which is at revision 1.
func newImage() *image { return &image{rev: 1, garbage: newGarbage()} }

// load reads the log from its beginning. It finds the compacted records on the way, and rejects a
// log with a gap above the last compaction.
func (e *engine) load() (*image, error) {
	img := newImage()
	if err := e.loadMeta(img); err != nil {
		return nil, err
	}
	it, err := e.db.NewIter(&pebble.IterOptions{UpperBound: []byte{metaPrefix}})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	progress := e.progress
	if progress == nil {
		progress = func(int64) {}
	}
	l := loader{image: img, rev: img.compacted, last: true}
	n := int64(0)
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		if err := l.add(it.Key(), value); err != nil {
			return nil, err
		}
		if n++; n%progressStep == 0 {
			progress(n)
		}
	}
	if err := it.Error(); err != nil {
		return nil, err
	}
	if !l.last {
		return nil, fmt.Errorf("%w: the end of revision %d is missing", errRecord, l.rev)
	}
	img.rev = max(img.rev, l.rev)
	return img, img.bind()
}

// progressStep is how many records are read between two reports.
const progressStep = 50_000

// loader adds records in the order of the log.
type loader struct {
	*image
	entry *entry
	rev   storage.Revision // the last above the compaction
	sub   uint32
	last  bool // the transaction of rev is complete
}

func (l *loader) add(key, value []byte) error {
	v, last, err := decodeRecord(key, value, l.intern)
	if err != nil {
		return err
	}
	l.kept += int64(recordSize(v))
	r := v.kv().ModRevision
	if r > l.compacted {
		follows := l.last && r == max(l.rev, 1)+1 && v.sub == 0 || !l.last && r == l.rev && v.sub == l.sub+1
		if !follows {
			return fmt.Errorf("%w: revision %d.%d follows %d.%d", errRecord, r, v.sub, l.rev, l.sub)
		}
		l.rev, l.sub, l.last = r, v.sub, last
	}
	prev := l.entry.head.Load()
	if r <= l.compacted {
		if prev != nil {
			l.discard(prev)
		}
		if v.deleted {
			l.discard(v)
			l.tree.Delete(v.kv().Key)
			l.live.replace(prev, v)
			return nil
		}
	} else {
		v.prev.Store(prev)
		l.log = l.log.append([]*version{v})
	}
	l.live.replace(prev, v)
	l.entry.head.Store(v)
	return nil
}

// intern finds the entry of key, or makes one, and returns its string.
func (l *loader) intern(key []byte) string {
	if e, ok := l.tree.Get(string(key)); ok {
		l.entry = e
		return e.head.Load().kv().Key
	}
	k := string(key)
	l.entry = &entry{}
	l.tree.Set(k, l.entry)
	return k
}

func (l *loader) discard(v *version) {
	l.kept -= int64(recordSize(v))
	l.garbage.add(v)
}

// bind finds the keys of the leases. A key may only name an existing lease.
func (img *image) bind() (err error) {
	img.tree.Scan(func(key string, e *entry) bool {
		kv := e.head.Load().live()
		if kv != nil && kv.Lease != 0 && img.leases.Find(kv.Lease) == nil {
			err = fmt.Errorf("%w: key %q is bound to lease %d, which is missing", errRecord, key, kv.Lease)
		} else if kv != nil {
			img.leases.Rebind(nil, kv)
		}
		return err == nil
	})
	return err
}

// loadMeta reads the records that are not part of the log.
func (e *engine) loadMeta(img *image) error {
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: []byte{metaPrefix}})
	if err != nil {
		return err
	}
	defer it.Close()
	var format uint64
	for it.First(); it.Valid(); it.Next() {
		key := it.Key()
		n, err := decodeUint64(it.Value())
		if err != nil {
			return err
		}
		switch {
		case string(key) == string(formatKey):
			format = n
		case string(key) == string(compactedKey):
			img.compacted = storage.Revision(n)
			img.rev = max(img.rev, img.compacted)
		case len(key) == 10 && key[1] == 't':
			r := storage.Revision(binary.BigEndian.Uint64(key[2:]))
			img.marks = append(img.marks, mark{r, time.Unix(0, int64(n))})
		case len(key) == 10 && key[1] == 'l':
			img.leases.Grant(storage.LeaseID(binary.BigEndian.Uint64(key[2:])), time.Duration(n)*time.Second, time.Now())
		default:
			return fmt.Errorf("%w: unknown key %x", errRecord, key)
		}
	}
	if format != datadir.FormatVersion {
		return errors.Join(it.Error(), fmt.Errorf("%w: it says format %d where %d should be", errRecord, format, datadir.FormatVersion))
	}
	return it.Error()
}
