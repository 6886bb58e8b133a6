package etcd

import (
	"fmt"

	"fairlead.dev/storage"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func (k keys) keyValue(kv *mvccpb.KeyValue) *storage.KeyValue {
	return &storage.KeyValue{
		Key:            k.fromCluster(kv.Key),
		Value:          kv.Value,
		CreateRevision: storage.Revision(kv.CreateRevision),
		ModRevision:    storage.Revision(kv.ModRevision),
		Version:        kv.Version,
		Lease:          storage.LeaseID(kv.Lease),
	}
}

// event converts an event, which has its previous version if prev is set. It fails with ErrCompacted if
// that version is compacted: the cluster then sends the event without it, as if the key were new.
func (k keys) event(e *clientv3.Event, prev bool) (storage.Event, error) {
	if prev && e.PrevKv == nil && !e.IsCreate() {
		return storage.Event{}, fmt.Errorf("what was before revision %d: %w", e.Kv.ModRevision, storage.ErrCompacted)
	}
	out := storage.Event{Type: storage.Put, KV: k.keyValue(e.Kv)}
	if e.Type == clientv3.EventTypeDelete {
		out.Type = storage.Delete
		out.KV = &storage.KeyValue{Key: out.KV.Key, ModRevision: out.KV.ModRevision}
	}
	if e.PrevKv != nil {
		out.Prev = k.keyValue(e.PrevKv)
	}
	return out, nil
}

// size is the memory of an event that depends on its keys and values.
func size(e storage.Event) int {
	n := 200 + len(e.KV.Key) + len(e.KV.Value)
	if e.Prev != nil {
		n += len(e.KV.Key) + len(e.Prev.Value)
	}
	return n
}
