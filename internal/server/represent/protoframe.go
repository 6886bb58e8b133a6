package represent

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/serializer"
)

// AppendProtoFrame appends a metav1.WatchEvent, preceded by its length.
func AppendProtoFrame(dst []byte, t watch.EventType, object []byte) []byte {
	return append(appendProtoFrameHead(dst, t, len(object)), object...)
}

// appendProtoFrameHead appends the head of an event with an object of size bytes.
func appendProtoFrameHead(dst []byte, t watch.EventType, size int) []byte {
	inner := 1 + protowire.SizeBytes(size)
	outer := 1 + protowire.SizeBytes(len(t)) + 1 + protowire.SizeBytes(inner)
	dst = binary.BigEndian.AppendUint32(dst, uint32(outer))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, string(t))
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(inner))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(size))
}

// WrapProtoFrame turns the element that b holds from at on into an event. Lengths precede a
// message, so the head is made last and the element is moved to make room for it: separate
// buffers for a crowd of watchers would fill the heap.
func WrapProtoFrame(b []byte, at int, t watch.EventType, gvk schema.GroupVersionKind) []byte {
	element := len(b) - at
	var room [128]byte
	envelope := protowire.AppendTag(serializer.AppendEnvelopeHead(room[:0], gvk), 2, protowire.BytesType)
	envelope = protowire.AppendVarint(envelope, uint64(element))
	b = serializer.AppendEnvelopeTail(b)
	object := len(envelope) + len(b) - at
	b = append(appendProtoFrameHead(b, t, object), envelope...)
	// The head stands at the end now; it goes to the front.
	end := at + element + len(serializer.AppendEnvelopeTail(nil))
	var head [256]byte
	n := copy(head[:], b[end:])
	copy(b[at+n:], b[at:end])
	copy(b[at:], head[:n])
	return b
}
