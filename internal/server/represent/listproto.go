package represent

import (
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
)

// protoHead appends the head of a protobuf list. The length of the items is part of it, so a
// first walk adds up their sizes, which are kept with the objects. A request never holds more
// than one item.
func (l *ListWriter) protoHead(dst []byte, m ListMeta) ([]byte, error) {
	f := l.Representation
	gvk := schema.GroupVersionKind{Group: f.Endpoint.ServedGVK.Group, Version: f.Endpoint.ServedGVK.Version, Kind: f.Endpoint.ListKind()}
	if f.Shape == request.AsPartialList {
		gvk = schema.GroupVersionKind{Group: "meta.k8s.io", Version: f.MetaVersion, Kind: "PartialObjectMetadataList"}
	}
	all := l.Walk
	for o := range all.Items() {
		n, err := o.EncodedSize(f.id, f.buildForm)
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
