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

// load reads the log from its beginning, and packs most versions, so that a large store takes little memory from its start. It finds
// the compacted records on the way, and rejects a log with a gap above the last compaction.
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
	first, last := storage.Revision(0), storage.Revision(0)
	if e.progress != nil && it.First() {
		first = storage.Revision(recordRevision(it.Key()))
		it.Last()
		last = storage.Revision(recordRevision(it.Key()))
	}
	reader := startReader(it)
	defer reader.stop()
	l := loader{Image: img, rev: img.Compacted, last: true, packing: startPacking(&img.Packer, reader.reuse)}
	defer l.packing.finish()
	for batch := range reader.batches {
		for i := range batch.records {
			if err := l.add(&batch.records[i]); err != nil {
				return nil, err
			}
		}
		l.packing.flush(batch.memory)
		if e.progress != nil {
			at := batch.records[len(batch.records)-1].kv.ModRevision
			e.progress(int64(at-first+1), int64(last-first+1))
		}
	}
	if reader.err != nil {
		return nil, reader.err
	}
	if !l.last {
		return nil, fmt.Errorf("%w: the end of revision %d is missing", errRecord, l.rev)
	}
	img.Rev = max(img.Rev, l.rev)
	return img, img.bind()
}

// loader adds records in the order of the log.
type loader struct {
	*Image
	rev     storage.Revision // the last above the compaction
	sub     uint32
	last    bool // the transaction of rev is complete
	packing *packing
}

func (l *loader) add(rec *record) error {
	key, entry := l.intern(rec.name)
	v := rec.version(key)
	l.kept += int64(recordSize(v))
	r := v.KV().ModRevision
	if r > l.Compacted {
		follows := l.last && r == max(l.rev, 1)+1 && v.Sub == 0 || !l.last && r == l.rev && v.Sub == l.sub+1
		if !follows {
			return fmt.Errorf("%w: revision %d.%d follows %d.%d", errRecord, r, v.Sub, l.rev, l.sub)
		}
		l.rev, l.sub, l.last = r, v.Sub, rec.last
	}
	prev := entry.Head.Load()
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
	l.packing.add(added{v, v.Prev.Load(), entry})
	l.Live.Replace(prev, v)
	entry.Head.Store(v)
	return nil
}

// intern finds the entry of a key, or makes one, and returns the key's string.
func (l *loader) intern(key []byte) (string, *mvcc.Entry) {
	if e, ok := l.Tree.Get(string(key)); ok {
		return e.Head.Load().KV().Key, e
	}
	k, e := string(key), &mvcc.Entry{}
	l.Tree.Set(k, e)
	return k, e
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
