package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/mvcc"
)

// load reads the log from its beginning. It finds the compacted records on the way, and rejects a
// log with a gap above the last compaction.
func (e *Engine) load() (*Image, error) {
	img := NewImage()
	if err := e.loadMeta(img); err != nil {
		return nil, err
	}
	it, err := e.db.NewIter(&pebble.IterOptions{UpperBound: []byte{metaPrefix}})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	first, last := int64(0), int64(0)
	if e.progress != nil && it.Last() {
		last = recordRevision(it.Key())
	}
	l := loader{Image: img, rev: img.Compacted, last: true}
	n := int64(0)
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		if err := l.add(it.Key(), value); err != nil {
			return nil, err
		}
		if n++; e.progress != nil && n%progressStep == 1 {
			at := recordRevision(it.Key())
			if n == 1 {
				first = at
			}
			e.progress(at-first+1, last-first+1)
		}
	}
	if err := it.Error(); err != nil {
		return nil, err
	}
	if !l.last {
		return nil, fmt.Errorf("%w: the end of revision %d is missing", errRecord, l.rev)
	}
	img.Rev = max(img.Rev, l.rev)
	return img, img.bind()
}

// progressStep is how many records are read between two reports.
const progressStep = 5_000

// loader adds records in the order of the log.
type loader struct {
	*Image
	entry *mvcc.Entry
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
	r := v.KV().ModRevision
	if r > l.Compacted {
		follows := l.last && r == max(l.rev, 1)+1 && v.Sub == 0 || !l.last && r == l.rev && v.Sub == l.sub+1
		if !follows {
			return fmt.Errorf("%w: revision %d.%d follows %d.%d", errRecord, r, v.Sub, l.rev, l.sub)
		}
		l.rev, l.sub, l.last = r, v.Sub, last
	}
	prev := l.entry.Head.Load()
	if r <= l.Compacted {
		if prev != nil {
			l.discard(prev)
		}
		if v.Deleted {
			l.discard(v)
			l.Tree.Delete(v.KV().Key)
			l.Live.Replace(prev, v)
			return nil
		}
	} else {
		v.Prev.Store(prev)
		l.Log = l.Log.Append([]*mvcc.Version{v})
	}
	l.Live.Replace(prev, v)
	l.entry.Head.Store(v)
	return nil
}

// intern finds the entry of key, or makes one, and returns its string.
func (l *loader) intern(key []byte) string {
	if e, ok := l.Tree.Get(string(key)); ok {
		l.entry = e
		return e.Head.Load().KV().Key
	}
	k := string(key)
	l.entry = &mvcc.Entry{}
	l.Tree.Set(k, l.entry)
	return k
}

func (l *loader) discard(v *mvcc.Version) {
	l.kept -= int64(recordSize(v))
	l.Garbage.add(v)
}

// loadMeta reads the records that are not part of the log.
func (e *Engine) loadMeta(img *Image) error {
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
			img.Compacted = storage.Revision(n)
			img.Rev = max(img.Rev, img.Compacted)
		case len(key) == 10 && key[1] == 't':
			r := storage.Revision(binary.BigEndian.Uint64(key[2:]))
			img.Marks = append(img.Marks, Mark{r, time.Unix(0, int64(n))})
		case len(key) == 10 && key[1] == 'l':
			img.Leases.Grant(storage.LeaseID(binary.BigEndian.Uint64(key[2:])), time.Duration(n)*time.Second, time.Now())
		default:
			return fmt.Errorf("%w: unknown key %x", errRecord, key)
		}
	}
	if format != datadir.FormatVersion {
		return errors.Join(it.Error(), fmt.Errorf("%w: it says format %d where %d should be", errRecord, format, datadir.FormatVersion))
	}
	return it.Error()
}
