package represent

import (
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

// protoHead appends the head of a protobuf list. The length of the items is part of it, so a
// first walk adds up their sizes, which are kept with the objects. A request never holds more
// than one item, and an item is not kept if others would have to go for it: a list that is
// longer than the room for all would make each of its items go before it is read again.
func (l *ListWriter) protoHead(dst []byte, m ListMeta) ([]byte, error) {
	f := l.Representation
	gvk := schema.GroupVersionKind{Group: f.Endpoint.ServedGVK.Group, Version: f.Endpoint.ServedGVK.Version, Kind: f.Endpoint.ListKind()}
	if f.Shape == request.AsPartialList {
		gvk = schema.GroupVersionKind{Group: "meta.k8s.io", Version: f.MetaVersion, Kind: "PartialObjectMetadataList"}
	}
	all := l.Walk
	for o := range all.Items() {
		n, err := o.EncodedSize(f.id, f.measure)
		if err != nil {
			return dst, err
		}
		l.left += 1 + protowire.SizeBytes(n)
	}
	head := m.appendProto(nil)
	dst = serializer.AppendEnvelopeHead(dst, gvk)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(1+protowire.SizeBytes(len(head))+l.left))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	return protowire.AppendBytes(dst, head), nil
}

// measure returns the length of the object's message.
func (f *Representation) measure(o *watchcache.Object) (n int, err error) {
	err = f.withMessage(o, func(message []byte) error { n = len(message); return nil })
	return n, err
}

// withMessage calls do with the object's element, which do must not keep.
func (f *Representation) withMessage(o *watchcache.Object, do func([]byte) error) error {
	if f.message != nil && !o.Keeps(f.id) {
		box := Buffers.Get().(*[]byte)
		message, ok := f.transcode((*box)[:0], o, o.Revision())
		defer func() { ReleaseBuffer(box, message) }()
		if ok {
			return do(message)
		}
	}
	e, err := f.element(o)
	if err != nil {
		return err
	}
	return do(e)
}
