package engine

import (
	"fmt"
	"time"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/leases"
	"fairlead.dev/internal/storage/mvcc"
)

// A Mark records that all revisions up to Rev were committed by the time At.
type Mark struct {
	Rev storage.Revision
	At  time.Time
}

// An Image is the state with which a store begins.
type Image struct {
	Rev, Compacted storage.Revision
	Tree           mvcc.Tree
	Log            mvcc.Log
	Live           mvcc.Size
	Marks          []Mark
	Leases         leases.Table
	// Packer has packed most versions.
	Packer mvcc.Packer
	// kept is the size of the records that count; Garbage are those that were compacted.
	kept    int64
	Garbage Garbage
}

// NewImage returns the empty store, which is at revision 1.
func NewImage() *Image { return &Image{Rev: 1, Garbage: NewGarbage()} }

// bind finds the keys of the leases. A key may only name an existing lease.
func (img *Image) bind() (err error) {
	img.Tree.Scan(func(key string, e *mvcc.Entry) bool {
		kv := e.Head.Load().Present()
		switch {
		case kv == nil:
		case kv.Lease != 0 && img.Leases.Find(kv.Lease) == nil:
			err = fmt.Errorf("%w: key %q is bound to lease %d, which is missing", errRecord, key, kv.Lease)
		default:
			img.Leases.Rebind(nil, kv)
		}
		return err == nil
	})
	return err
}
