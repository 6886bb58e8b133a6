// Package adopt reads what kube-apiserver stored, so that an API server of ours can
// take over its etcd, or stand beside it.
//
// kube-apiserver keeps built-in kinds as protobuf unless it is told otherwise
// (--storage-media-type), custom resources as JSON. Everything of ours above the
// store takes values for JSON. So a [Store] passes JSON through as it is, and
// turns protobuf into JSON as it is read, with the same revision. What is written
// is JSON, which kube-apiserver reads too.
//
// A kind that the scheme does not know and a value that is encrypted stay as they
// are; the watch cache leaves them out and counts them.
package adopt

import (
	"bytes"
	"context"
	"encoding/json"

	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// Store is a store seen through the decoder. It is as safe to share as the store
// below it, and costs a look at four bytes for a value that is JSON.
type Store struct {
	storage.Store
	decoder runtime.Decoder
}

var _ storage.Store = (*Store)(nil)

// New returns s with the values of the scheme's kinds as JSON.
func New(s storage.Store, scheme *runtime.Scheme) *Store {
	return &Store{Store: s, decoder: protobuf.NewSerializer(scheme, scheme)}
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
	obj, kind, err := s.decoder.Decode(value, nil, nil)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(*kind)
	return json.Marshal(obj)
}
