package controlplane

import (
	"fairlead.dev/client/leader"
	"fairlead.dev/internal/storage/holder"
	"fairlead.dev/watchcache"
	"k8s.io/apimachinery/pkg/types"
)

// heldStore is a store that other processes share. It refuses the writes of the former holders of Leases.
type heldStore struct {
	*holder.Store
	under store
}

// Err implements store.
func (s heldStore) Err() error { return s.under.Err() }

// record follows the record of a Lease's holder for a candidate, until closed is called. The record is nil if no other process has the
// store.
func (cp *ControlPlane) record(lease types.NamespacedName, identity string) (record leader.Record, closed func()) {
	first, ok := cp.store.(heldStore)
	if !ok {
		return nil, func() {}
	}
	stores := []*holder.Store{first.Store}
	for _, s := range cp.shards {
		stores = append(stores, s.store.(heldStore).Store)
	}
	r := holder.Open(stores, watchcache.Root+"fairlead-holders/", lease, identity, cp.options.Log)
	return r, r.Close
}
