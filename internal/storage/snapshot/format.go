package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/storage"
)

// ErrCorrupt: the file is not a snapshot, or was damaged.
var ErrCorrupt = errors.New("snapshot is corrupt")

const (
	keyBucket   = "key"
	leaseBucket = "lease"
	metaBucket  = "meta"

	finishedKey  = "finishedCompactRev"
	scheduledKey = "scheduledCompactRev"
	indexKey     = "consistent_index"
	termKey      = "term"

	revisionSize = 17
	tombstone    = 't'
)

// buckets are those that etcd expects to find.
var buckets = []string{
	keyBucket, metaBucket, leaseBucket, "alarm", "cluster", "members", "members_removed", "auth", "authUsers", "authRoles",
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func revisionKey(r storage.Revision, sub int64) []byte {
	b := make([]byte, 0, revisionSize)
	b = append(binary.BigEndian.AppendUint64(b, uint64(r)), '_')
	return binary.BigEndian.AppendUint64(b, uint64(sub))
}

func parseRevision(b []byte) (r storage.Revision, deleted bool, err error) {
	marked := len(b) == revisionSize+1 && b[revisionSize] == tombstone
	if len(b) != revisionSize && !marked || b[8] != '_' || b[0] >= 0x80 {
		return 0, false, fmt.Errorf("%w: revision %x", ErrCorrupt, b)
	}
	return storage.Revision(binary.BigEndian.Uint64(b)), marked, nil
}

func message(kv *storage.KeyValue) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{
		Key: []byte(kv.Key), Value: kv.Value, CreateRevision: int64(kv.CreateRevision),
		ModRevision: int64(kv.ModRevision), Version: kv.Version, Lease: int64(kv.Lease),
	}
}

// Fields of leasepb.Lease.
const (
	leaseID  protowire.Number = 1
	leaseTTL protowire.Number = 2
)

func leaseValue(id storage.LeaseID, ttl time.Duration) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, leaseID, protowire.VarintType), uint64(id))
	return protowire.AppendVarint(protowire.AppendTag(b, leaseTTL, protowire.VarintType), uint64(ttl/time.Second))
}

func parseLease(b []byte) (l storage.Lease, err error) {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return l, fmt.Errorf("%w: lease: %w", ErrCorrupt, protowire.ParseError(n))
		}
		b = b[n:]
		if kind != protowire.VarintType {
			if n = protowire.ConsumeFieldValue(field, kind, b); n < 0 {
				return l, fmt.Errorf("%w: lease: %w", ErrCorrupt, protowire.ParseError(n))
			}
			b = b[n:]
			continue
		}
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return l, fmt.Errorf("%w: lease: %w", ErrCorrupt, protowire.ParseError(n))
		}
		b = b[n:]
		switch field {
		case leaseID:
			l.ID = storage.LeaseID(v)
		case leaseTTL:
			l.TTL = time.Duration(v) * time.Second
		}
	}
	if l.ID <= 0 || l.TTL <= 0 || l.TTL > storage.MaxTTL {
		return l, fmt.Errorf("%w: lease %d with a TTL of %v", ErrCorrupt, l.ID, l.TTL)
	}
	return l, nil
}
