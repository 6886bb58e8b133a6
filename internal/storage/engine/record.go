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

// decodeRecord reads a record. It copies the value, and the key unless intern knows a string for
// it.
func decodeRecord(key, b []byte, intern func(key []byte) string) (v *mvcc.Version, last bool, err error) {
	if len(key) != recordKeySize {
		return nil, false, fmt.Errorf("%w: its key has %d bytes", errRecord, len(key))
	}
	rev := binary.BigEndian.Uint64(key)
	if rev > math.MaxInt64 {
		return nil, false, fmt.Errorf("%w: revision %d", errRecord, rev)
	}
	if len(b) < recordHead || uint64(len(b)-recordHead) < uint64(binary.BigEndian.Uint32(b[25:])) {
		return nil, false, fmt.Errorf("%w: revision %d is cut at %d bytes", errRecord, rev, len(b))
	}
	kind := b[0] &^ kindLast
	if kind > kindDelete {
		return nil, false, fmt.Errorf("%w: revision %d is of kind %d", errRecord, rev, kind)
	}
	kv := storage.KeyValue{
		ModRevision:    storage.Revision(rev),
		CreateRevision: storage.Revision(binary.BigEndian.Uint64(b[1:])),
		Version:        int64(binary.BigEndian.Uint64(b[9:])),
		Lease:          storage.LeaseID(binary.BigEndian.Uint64(b[17:])),
	}
	n := recordHead + int(binary.BigEndian.Uint32(b[25:]))
	kv.Key = intern(b[recordHead:n])
	if kind == kindPut {
		kv.Value = append(make([]byte, 0, len(b)-n), b[n:]...)
	}
	v = mvcc.NewVersion(kv, binary.BigEndian.Uint32(key[8:]), kind == kindDelete)
	return v, b[0]&kindLast != 0, nil
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
