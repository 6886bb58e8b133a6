package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// Keys and values of the engine; the tables are in package storage/local.
const (
	recordKeySize = 12
	recordHead    = 29

	kindPut    = 0
	kindDelete = 1
	kindLast   = 0x80

	metaPrefix = 0xff
)

var (
	formatKey    = []byte{metaPrefix, 'f'}
	compactedKey = []byte{metaPrefix, 'c'}
)

var errRecord = errors.New("malformed record")

func appendRecordKey(b []byte, r storage.Revision, sub uint32) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(r))
	return binary.BigEndian.AppendUint32(b, sub)
}

// recordSize returns the size of v's record.
func recordSize(v *mvcc.Version) int { return recordHead + len(v.KV().Key) + v.ValueSize() }

// encodeRecord writes v to b, which has recordSize bytes. last marks v as the last of its
// transaction.
func encodeRecord(b []byte, v *mvcc.Version, last bool) {
	b[0] = kindPut
	if v.Deleted {
		b[0] = kindDelete
	}
	if last {
		b[0] |= kindLast
	}
	binary.BigEndian.PutUint64(b[1:], uint64(v.KV().CreateRevision))
	binary.BigEndian.PutUint64(b[9:], uint64(v.KV().Version))
	binary.BigEndian.PutUint64(b[17:], uint64(v.KV().Lease))
	binary.BigEndian.PutUint32(b[25:], uint32(len(v.KV().Key)))
	n := copy(b[recordHead:], v.KV().Key)
	copy(b[recordHead+n:], v.KV().Value)
}

// recordRevision returns the revision in the key of a record; 0 if the key is none.
func recordRevision(key []byte) int64 {
	if len(key) != recordKeySize {
		return 0
	}
	return int64(binary.BigEndian.Uint64(key))
}

// record is a version as it is stored: kv has no key, which is name.
type record struct {
	kv            storage.KeyValue
	name          []byte
	sub           uint32
	deleted, last bool
}

// decodeRecord reads a record. Its name and value are parts of b.
func decodeRecord(key, b []byte) (r record, err error) {
	if len(key) != recordKeySize {
		return r, fmt.Errorf("%w: its key has %d bytes", errRecord, len(key))
	}
	rev := binary.BigEndian.Uint64(key)
	if rev > math.MaxInt64 {
		return r, fmt.Errorf("%w: revision %d", errRecord, rev)
	}
	if len(b) < recordHead || uint64(len(b)-recordHead) < uint64(binary.BigEndian.Uint32(b[25:])) {
		return r, fmt.Errorf("%w: revision %d is cut at %d bytes", errRecord, rev, len(b))
	}
	kind := b[0] &^ kindLast
	if kind > kindDelete {
		return r, fmt.Errorf("%w: revision %d is of kind %d", errRecord, rev, kind)
	}
	n := recordHead + int(binary.BigEndian.Uint32(b[25:]))
	r = record{
		kv: storage.KeyValue{
			ModRevision:    storage.Revision(rev),
			CreateRevision: storage.Revision(binary.BigEndian.Uint64(b[1:])),
			Version:        int64(binary.BigEndian.Uint64(b[9:])),
			Lease:          storage.LeaseID(binary.BigEndian.Uint64(b[17:])),
		},
		name: b[recordHead:n], sub: binary.BigEndian.Uint32(key[8:]), deleted: kind == kindDelete, last: b[0]&kindLast != 0,
	}
	if !r.deleted {
		r.kv.Value = b[n:]
	}
	return r, nil
}

// version returns the version of a record under its key.
func (r *record) version(key string) *mvcc.Version {
	r.kv.Key = key
	return mvcc.NewVersion(r.kv, r.sub, r.deleted)
}

func uint64Value(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func decodeUint64(b []byte) (uint64, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("%w: %d bytes instead of 8", errRecord, len(b))
	}
	return binary.BigEndian.Uint64(b), nil
}

func leaseKey(id storage.LeaseID) []byte {
	return binary.BigEndian.AppendUint64([]byte{metaPrefix, 'l'}, uint64(id))
}

func markKey(r storage.Revision) []byte {
	return binary.BigEndian.AppendUint64([]byte{metaPrefix, 't'}, uint64(r))
}
