package snapshot

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"

	"fairlead.dev/storage"
)

// Progress is called from time to time with the number of finished keys and the total.
type Progress func(done, total int64)

// A File is a snapshot in a temporary file. Close removes it.
type File struct {
	// Revision is the revision of the snapshot, Keys the number of its keys.
	Revision storage.Revision
	Keys     int64
	// Size is the number of bytes that WriteTo writes.
	Size int64
	path string
}

// pageKeys is how many keys are read, and written, at a time.
const pageKeys = 10_000

// Take takes a snapshot of the current state of s. It reads all keys into memory (for a store in
// this process these are the store's own) and writes the file in dir, or in the system's directory
// for temporary files if that is "". Errors: as for Range, and those of the file system.
func Take(ctx context.Context, s storage.Store, dir string, p Progress) (*File, error) {
	content, err := Capture(ctx, s)
	if err != nil {
		return nil, err
	}
	return content.File(ctx, dir, p)
}

// Capture returns the current state of s. It reads all keys into memory, as Take does.
func Capture(ctx context.Context, s storage.Store) (*Snapshot, error) {
	kvs, at, err := readAll(ctx, s)
	if err != nil {
		return nil, err
	}
	leases, err := readLeases(ctx, s, kvs)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Revision: at, KVs: kvs, Leases: leases}, nil
}

// File writes the snapshot in dir, as Take does.
func (s *Snapshot) File(ctx context.Context, dir string, p Progress) (*File, error) {
	if p == nil {
		p = func(int64, int64) {}
	}
	temp, err := os.MkdirTemp(dir, "snapshot-")
	if err != nil {
		return nil, err
	}
	f := &File{Revision: s.Revision, Keys: int64(len(s.KVs)), path: filepath.Join(temp, "db")}
	if err := f.write(ctx, s.KVs, s.Leases, p); err != nil {
		f.Close()
		return nil, fmt.Errorf("writing a snapshot: %w", err)
	}
	info, err := os.Stat(f.path)
	if err != nil {
		f.Close()
		return nil, err
	}
	f.Size = info.Size() + sha256.Size
	return f, nil
}

// readAll reads all keys of one revision, in the order they were written.
func readAll(ctx context.Context, s storage.Store) (kvs []*storage.KeyValue, at storage.Revision, err error) {
	for start := "\x00"; ; {
		res, err := s.Range(ctx, storage.RangeRequest{Start: start, End: storage.NoEnd, Revision: at, Limit: pageKeys})
		if err != nil {
			return nil, 0, err
		}
		kvs, at = append(kvs, res.KVs...), res.Revision
		if !res.More {
			break
		}
		start = res.KVs[len(res.KVs)-1].Key + "\x00"
	}
	slices.SortFunc(kvs, func(a, b *storage.KeyValue) int {
		return cmp.Or(cmp.Compare(a.ModRevision, b.ModRevision), cmp.Compare(a.Key, b.Key))
	})
	return kvs, at, nil
}

// readLeases finds the existing leases. A lease with keys that does not exist any more has ended
// since: it gets the shortest TTL, to end again.
func readLeases(ctx context.Context, s storage.Store, kvs []*storage.KeyValue) (all []storage.Lease, err error) {
	leases := map[storage.LeaseID]time.Duration{}
	for _, kv := range kvs {
		if kv.Lease != 0 {
			leases[kv.Lease] = time.Second
		}
	}
	ids, err := s.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		l, err := s.Lease(ctx, id)
		if errors.Is(err, storage.ErrLeaseNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		leases[id] = l.TTL
	}
	for id, ttl := range leases {
		all = append(all, storage.Lease{ID: id, TTL: ttl})
	}
	return all, nil
}

func (f *File) write(ctx context.Context, kvs []*storage.KeyValue, leases []storage.Lease, p Progress) error {
	db, err := bbolt.Open(f.path, 0o600, &bbolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		return err
	}
	err = errors.Join(f.fill(ctx, db, kvs, leases, p), db.Close())
	return err
}

func (f *File) fill(ctx context.Context, db *bbolt.DB, kvs []*storage.KeyValue, leases []storage.Lease, p Progress) error {
	err := db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		meta := tx.Bucket([]byte(metaBucket))
		r := revisionKey(f.Revision, 0)
		err := errors.Join(
			meta.Put([]byte(finishedKey), r), meta.Put([]byte(scheduledKey), r),
			meta.Put([]byte(indexKey), number(uint64(f.Revision))), meta.Put([]byte(termKey), number(1)))
		for _, l := range leases {
			err = errors.Join(err, tx.Bucket([]byte(leaseBucket)).Put(number(uint64(l.ID)), leaseValue(l.ID, l.TTL)))
		}
		return err
	})
	if err != nil {
		return err
	}
	total, sub := int64(len(kvs)), int64(0)
	last := storage.Revision(0)
	for done := int64(0); done < total; {
		if err := ctx.Err(); err != nil {
			return err
		}
		page := kvs[done:min(done+pageKeys, total)]
		err := db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(keyBucket))
			b.FillPercent = 0.9 // keys come in order
			for _, kv := range page {
				if sub++; kv.ModRevision != last {
					last, sub = kv.ModRevision, 0
				}
				value, err := proto.Marshal(message(kv))
				if err != nil {
					return err
				}
				if err := b.Put(revisionKey(kv.ModRevision, sub), value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done += int64(len(page))
		p(done, total)
	}
	return nil
}

// WriteTo writes the snapshot with its checksum.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), file)
	if err != nil {
		return n, err
	}
	m, err := w.Write(sum.Sum(nil))
	return n + int64(m), err
}

// SaveAs writes the snapshot to a file, which is complete once it has its name. The file is synced, and readable by
// this user only.
func (f *File) SaveAs(file string) error {
	part, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	w := bufio.NewWriterSize(part, 1<<20)
	_, err = f.WriteTo(w)
	if err := errors.Join(err, w.Flush(), part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), file)
}

// Close removes the temporary file.
func (f *File) Close() error { return os.RemoveAll(filepath.Dir(f.path)) }
