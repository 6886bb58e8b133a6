package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"

	"fairlead.dev/storage"
)

// A Snapshot is the content of a snapshot file: the keys that existed at Revision.
type Snapshot struct {
	Revision storage.Revision
	// KVs are in the order in which they were written.
	KVs    []*storage.KeyValue
	Leases []storage.Lease
}

// Read reads a snapshot into memory. Its checksum must be there and be right. Errors: ErrCorrupt,
// and those of the file system. p, if not nil, is called with the revisions read.
func Read(path string, p Progress) (*Snapshot, error) {
	if err := checkSum(path); err != nil {
		return nil, err
	}
	s := &Snapshot{}
	if err := s.open(path, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// open reads the database. bbolt trusts its pages and follows them out of the file if they are
// wrong, which a right checksum does not rule out; open turns that into an error.
func (s *Snapshot) open(path string, p Progress) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: its pages are damaged: %v", ErrCorrupt, p)
		}
	}()
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	defer db.Close()
	return db.View(func(tx *bbolt.Tx) error { return s.read(tx, p) })
}

func checkSum(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size()%512 != sha256.Size || info.Size() < 512 {
		return fmt.Errorf("%w: %s has no checksum at its end: was it cut, or copied from a running member?", ErrCorrupt, path)
	}
	h := sha256.New()
	if _, err := io.CopyN(h, f, info.Size()-sha256.Size); err != nil {
		return err
	}
	want, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if !bytes.Equal(want, h.Sum(nil)) {
		return fmt.Errorf("%w: the checksum of %s is wrong", ErrCorrupt, path)
	}
	return nil
}

func (s *Snapshot) read(tx *bbolt.Tx, p Progress) error {
	s.Revision = 1
	keys := tx.Bucket([]byte(keyBucket))
	if keys == nil {
		return fmt.Errorf("%w: it has no keys", ErrCorrupt)
	}
	live := map[string]*storage.KeyValue{}
	first, n := storage.Revision(0), 0
	lastKey, _ := keys.Cursor().Last()
	last, _, _ := parseRevision(lastKey) // the loop returns its error
	err := keys.ForEach(func(k, v []byte) error {
		r, deleted, err := parseRevision(k)
		if err != nil {
			return err
		}
		if n++; n == 1 {
			first = r
		}
		if p != nil && n%pageKeys == 0 {
			p(int64(r-first+1), int64(last-first+1))
		}
		s.Revision = max(s.Revision, r)
		var m mvccpb.KeyValue
		if err := proto.Unmarshal(v, &m); err != nil || len(m.Key) == 0 {
			return fmt.Errorf("%w: the key at revision %d", ErrCorrupt, r)
		}
		if deleted {
			delete(live, string(m.Key))
			return nil
		}
		live[string(m.Key)] = &storage.KeyValue{
			Key: string(m.Key), Value: m.Value, CreateRevision: storage.Revision(m.CreateRevision),
			ModRevision: r, Version: m.Version, Lease: storage.LeaseID(m.Lease),
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, kv := range live {
		s.KVs = append(s.KVs, kv)
	}
	slices.SortFunc(s.KVs, func(a, b *storage.KeyValue) int {
		return cmp.Or(cmp.Compare(a.ModRevision, b.ModRevision), cmp.Compare(a.Key, b.Key))
	})
	if meta := tx.Bucket([]byte(metaBucket)); meta != nil {
		for _, name := range []string{finishedKey, scheduledKey} {
			if v := meta.Get([]byte(name)); v != nil {
				r, _, err := parseRevision(v)
				if err != nil {
					return err
				}
				s.Revision = max(s.Revision, r)
			}
		}
	}
	return s.readLeases(tx)
}

func (s *Snapshot) readLeases(tx *bbolt.Tx) error {
	there := map[storage.LeaseID]bool{}
	if b := tx.Bucket([]byte(leaseBucket)); b != nil {
		err := b.ForEach(func(_, v []byte) error {
			l, err := parseLease(v)
			s.Leases, there[l.ID] = append(s.Leases, l), true
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, kv := range s.KVs {
		if kv.Lease != 0 && !there[kv.Lease] {
			return fmt.Errorf("%w: key %q is bound to lease %d, which is missing", ErrCorrupt, kv.Key, kv.Lease)
		}
	}
	return nil
}

// ErrNotEmpty: the store to restore into holds keys.
var ErrNotEmpty = errors.New("the store is not empty")

// intoKeys is how many keys one transaction restores; intoBytes how many bytes.
const (
	intoKeys  = 100
	intoBytes = 1 << 20
)

// Into puts the snapshot into a running, empty store of any kind. The keys get new revisions there:
// clients that know the old ones must list again. Leases get their full TTL. Errors: ErrNotEmpty,
// and as for Commit; then a part of it may be restored.
func (s *Snapshot) Into(ctx context.Context, to storage.Store, p Progress) error {
	res, err := to.Range(ctx, storage.RangeRequest{Start: "\x00", End: storage.NoEnd, Limit: 1})
	if err != nil {
		return err
	}
	if res.Count > 0 {
		return fmt.Errorf("%w: it holds %d keys", ErrNotEmpty, res.Count)
	}
	for _, l := range s.Leases {
		if _, err := to.Grant(ctx, l.ID, l.TTL); err != nil {
			return err
		}
	}
	total := int64(len(s.KVs))
	for done := int64(0); done < total; {
		var ops []storage.Op
		for size := 0; done+int64(len(ops)) < total && len(ops) < intoKeys && size < intoBytes; {
			kv := s.KVs[done+int64(len(ops))]
			if size += len(kv.Key) + len(kv.Value); size > intoBytes && len(ops) > 0 {
				break
			}
			ops = append(ops, storage.Op{Key: kv.Key, Value: kv.Value, Lease: kv.Lease})
		}
		if _, err := to.Commit(ctx, storage.Txn{Then: ops}); err != nil {
			return err
		}
		done += int64(len(ops))
		if p != nil {
			p(done, total)
		}
	}
	return nil
}
