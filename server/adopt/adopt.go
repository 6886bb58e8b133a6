// Package adopt reads what kube-apiserver stored, so that an API server of ours can
// take over its etcd, or stand beside it.
//
// kube-apiserver keeps built-in kinds as protobuf unless it is told otherwise
// (--storage-media-type), custom resources as JSON. Everything of ours above the
// store takes values for JSON. So a [Store] passes JSON through as it is, and
// turns protobuf into JSON as it is read: of the version that is stored here, with
// the defaults that came to be since it was written, at the same revision. What is
// written is JSON, which kube-apiserver reads too.
//
// A kind or version that is not served here and a value that is encrypted stay as
// they are; the watch cache leaves them out and counts them.
package adopt

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"fairlead.dev/resource"
	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// Store is a store seen through the decoder. It is as safe to share as the store
// below it, and costs a look at four bytes for a value that is JSON.
type Store struct {
	storage.Store
	decoder runtime.Decoder
	kinds   map[schema.GroupVersionKind]kind
}

// kind is what becomes of the values of a kind in one version.
type kind struct {
	stored    schema.GroupVersionKind
	toStorage func(runtime.Object) (runtime.Object, error)
	defaults  func(runtime.Object)
}

var _ storage.Store = (*Store)(nil)

// New returns s with the values of these resources as JSON.
func New(s storage.Store, resources []*resource.Resource) *Store {
	kinds := map[schema.GroupVersionKind]kind{}
	for _, r := range resources {
		if r.StoragePrefix == "" || r.SharesStorage {
			continue
		}
		for _, v := range r.Versions {
			kinds[r.GVK(v.Name)] = kind{r.StorageGVK(), v.ToStorage, r.Strategy.Default}
		}
	}
	scheme := resource.Scheme()
	return &Store{Store: s, decoder: protobuf.NewSerializer(scheme, scheme), kinds: kinds}
}

// magic begins every value that kube-apiserver stored as protobuf.
var magic = []byte("k8s\x00")

// Range implements storage.Store.
func (s *Store) Range(ctx context.Context, r storage.RangeRequest) (storage.RangeResult, error) {
	res, err := s.Store.Range(ctx, r)
	// What comes out of a store is shared: it is not changed in place.
	res.KVs = s.all(res.KVs)
	return res, err
}

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	res, err := s.Store.Commit(ctx, t)
	res.Current = s.all(res.Current)
	return res, err
}

// Watch implements storage.Store.
func (s *Store) Watch(start, end string, after storage.Revision) (storage.Cursor, error) {
	c, err := s.Store.Watch(start, end, after)
	if err != nil {
		return nil, err
	}
	return &cursor{c, s}, nil
}

type cursor struct {
	storage.Cursor
	store *Store
}

func (c *cursor) Next() (storage.Batch, error) {
	b, err := c.Cursor.Next()
	copied := false
	for i := range b.Events {
		e := b.Events[i]
		e.KV, e.Prev = c.store.one(e.KV), c.store.one(e.Prev)
		if e == b.Events[i] {
			continue
		}
		if !copied {
			b.Events, copied = append([]storage.Event(nil), b.Events...), true
		}
		b.Events[i] = e
	}
	return b, err
}

func (s *Store) all(kvs []*storage.KeyValue) []*storage.KeyValue {
	copied := false
	for i, kv := range kvs {
		decoded := s.one(kv)
		if decoded == kv {
			continue
		}
		if !copied {
			kvs, copied = append([]*storage.KeyValue(nil), kvs...), true
		}
		kvs[i] = decoded
	}
	return kvs
}

// one is kv itself, or a copy with its value as JSON.
func (s *Store) one(kv *storage.KeyValue) *storage.KeyValue {
	if kv == nil || !bytes.HasPrefix(kv.Value, magic) {
		return kv
	}
	value, err := s.json(kv.Value)
	if err != nil {
		return kv
	}
	decoded := *kv
	decoded.Value = value
	return &decoded
}

func (s *Store) json(value []byte) ([]byte, error) {
	obj, gvk, err := s.decoder.Decode(value, nil, nil)
	if err != nil {
		return nil, err
	}
	kind, ok := s.kinds[*gvk]
	if !ok {
		return nil, fmt.Errorf("%s is not stored here", gvk)
	}
	if kind.toStorage != nil {
		if obj, err = kind.toStorage(obj); err != nil {
			return nil, err
		}
	}
	if kind.defaults != nil {
		kind.defaults(obj)
	}
	obj.GetObjectKind().SetGroupVersionKind(kind.stored)
	return json.Marshal(obj)
}
