package etcdserver

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/storage"
)

// Only events go to many receivers at once. So they are encoded by hand, each once for all watches
// of a stream that see it, and an answer consists of a few bytes of its own and those.

// encoded is a WatchResponse that is encoded already.
type encoded struct{ parts mem.BufferSlice }

// codec is gRPC's own, except that it passes on messages that are encoded already.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if e, ok := v.(encoded); ok {
		return e.parts, nil
	}
	return c.CodecV2.Marshal(v)
}

// Fields of the messages: WatchResponse, ResponseHeader, Event and KeyValue.
const (
	responseHeader   protowire.Number = 1
	responseWatchID  protowire.Number = 2
	responseFragment protowire.Number = 7
	responseEvents   protowire.Number = 11

	headerClusterID protowire.Number = 1
	headerMemberID  protowire.Number = 2
	headerRevision  protowire.Number = 3
	headerRaftTerm  protowire.Number = 4

	eventType protowire.Number = 1
	eventKV   protowire.Number = 2
	eventPrev protowire.Number = 3

	kvKey     protowire.Number = 1
	kvCreate  protowire.Number = 2
	kvMod     protowire.Number = 3
	kvVersion protowire.Number = 4
	kvValue   protowire.Number = 5
	kvLease   protowire.Number = 6
)

func appendNumber(b []byte, field protowire.Number, n uint64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func numberSize(field protowire.Number, n uint64) int {
	if n == 0 {
		return 0
	}
	return protowire.SizeTag(field) + protowire.SizeVarint(n)
}

func appendKV(b []byte, field protowire.Number, kv *storage.KeyValue) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(kvSize(kv)))
	b = protowire.AppendString(protowire.AppendTag(b, kvKey, protowire.BytesType), kv.Key)
	b = appendNumber(b, kvCreate, uint64(kv.CreateRevision))
	b = appendNumber(b, kvMod, uint64(kv.ModRevision))
	b = appendNumber(b, kvVersion, uint64(kv.Version))
	if len(kv.Value) > 0 {
		b = protowire.AppendBytes(protowire.AppendTag(b, kvValue, protowire.BytesType), kv.Value)
	}
	return appendNumber(b, kvLease, uint64(kv.Lease))
}

func kvSize(kv *storage.KeyValue) int {
	n := protowire.SizeTag(kvKey) + protowire.SizeBytes(len(kv.Key)) +
		numberSize(kvCreate, uint64(kv.CreateRevision)) + numberSize(kvMod, uint64(kv.ModRevision)) +
		numberSize(kvVersion, uint64(kv.Version)) + numberSize(kvLease, uint64(kv.Lease))
	if len(kv.Value) > 0 {
		n += protowire.SizeTag(kvValue) + protowire.SizeBytes(len(kv.Value))
	}
	return n
}

// encodeEvent writes an event of a WatchResponse, with the previous version if prev.
func encodeEvent(e storage.Event, prev bool) []byte {
	kind := uint64(0)
	if e.Type == storage.Delete {
		kind = 1
	}
	size := numberSize(eventType, kind) + protowire.SizeTag(eventKV) + protowire.SizeBytes(kvSize(e.KV))
	if prev = prev && e.Prev != nil; prev {
		size += protowire.SizeTag(eventPrev) + protowire.SizeBytes(kvSize(e.Prev))
	}
	b := make([]byte, 0, protowire.SizeTag(responseEvents)+protowire.SizeBytes(size))
	b = protowire.AppendVarint(protowire.AppendTag(b, responseEvents, protowire.BytesType), uint64(size))
	b = appendKV(appendNumber(b, eventType, kind), eventKV, e.KV)
	if prev {
		b = appendKV(b, eventPrev, e.Prev)
	}
	return b
}

// encodeHead writes all of a WatchResponse except its events.
func encodeHead(at storage.Revision, id int64, fragment bool) []byte {
	h := make([]byte, 0, 48)
	h = appendNumber(h, headerClusterID, clusterID)
	h = appendNumber(h, headerMemberID, memberID)
	h = appendNumber(h, headerRevision, uint64(at))
	h = appendNumber(h, headerRaftTerm, raftTerm)
	b := make([]byte, 0, 64)
	b = protowire.AppendBytes(protowire.AppendTag(b, responseHeader, protowire.BytesType), h)
	b = appendNumber(b, responseWatchID, uint64(id))
	if fragment {
		b = appendNumber(b, responseFragment, 1)
	}
	return b
}

// encodingCache keeps the encodings of the last events of a stream.
type encodingCache struct {
	entries [64]struct {
		kv    *storage.KeyValue
		prev  bool
		bytes mem.Buffer
	}
	next int
}

func (r *encodingCache) encode(e storage.Event, prev bool) mem.Buffer {
	for i := range r.entries {
		// The last ones first: the next watch needs the same events as this one.
		if c := &r.entries[(r.next-1-i+2*len(r.entries))%len(r.entries)]; c.kv == e.KV && c.prev == prev {
			return c.bytes
		}
	}
	b := mem.SliceBuffer(encodeEvent(e, prev))
	if b.Len() <= maxRecent {
		c := &r.entries[r.next]
		c.kv, c.prev, c.bytes = e.KV, prev, b
		r.next = (r.next + 1) % len(r.entries)
	}
	return b
}

// maxRecent is the size up to which an event is kept.
const maxRecent = 64 << 10
