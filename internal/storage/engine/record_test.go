package engine

import (
	"testing"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// FuzzRecord feeds the decoder with arbitrary bytes: they are refused, or the encoder writes the
// same bytes again.
func FuzzRecord(f *testing.F) {
	seed := mvcc.NewVersion(storage.KeyValue{Key: "/a", Value: []byte("b"), CreateRevision: 2, ModRevision: 5, Version: 2, Lease: 9}, 3, false)
	b := make([]byte, recordSize(seed))
	encodeRecord(b, seed, true)
	f.Add(appendRecordKey(nil, 5, 3), b)
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, key, b []byte) {
		r, err := decodeRecord(key, b)
		if err != nil {
			return
		}
		v := r.version(string(r.name))
		if v.Deleted {
			return // other fields of a tombstone are not kept
		}
		again := make([]byte, recordSize(v))
		encodeRecord(again, v, r.last)
		if string(again) != string(b) || string(appendRecordKey(nil, v.KV().ModRevision, v.Sub)) != string(key) {
			t.Errorf("%x %x became %x", key, b, again)
		}
	})
}
