package engine

import (
	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/leases"
	"fairlead.dev/internal/storage/mvcc"
)

// A Group is a set of changes that one sync makes durable.
type Group struct {
	Versions []*mvcc.Version
	Rev      storage.Revision // of the last version; 0 without versions
	Leases   []leases.Record
	Sync     bool // something in it must survive a crash
	Bytes    int  // the size of the records of Versions
}

// Add adds a version; sync is set if it must survive a crash.
func (g *Group) Add(v *mvcc.Version, sync bool) {
	g.Versions = append(g.Versions, v)
	g.Sync = g.Sync || sync
	g.Bytes += recordSize(v)
}
