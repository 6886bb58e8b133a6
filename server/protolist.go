package server

import (
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/request"
)

// protoHead appends what stands before the items of a protobuf list. Their length is
// part of it, so the items are walked for their sizes, which are kept with the objects,
// before they are to be written. So no request holds more than one of them.
func (l *listing) protoHead(dst []byte, m listMeta) ([]byte, error) {
	f := l.f
	gvk := schema.GroupVersionKind{Group: f.ep.ServedGVK.Group, Version: f.ep.ServedGVK.Version, Kind: f.ep.ListKind()}
	if f.Shape == request.AsPartialList {
		gvk = schema.GroupVersionKind{Group: "meta.k8s.io", Version: f.MetaVersion, Kind: "PartialObjectMetadataList"}
	}
	all := l.walk
	for o := range all.items() {
		n, err := o.EncodedSize(f.id, f.buildForm)
		if err != nil {
			return dst, err
		}
		l.left += 1 + protowire.SizeBytes(n)
	}
	head := m.appendProto(nil)
	dst = codec.AppendEnvelopeHead(dst, gvk)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(1+protowire.SizeBytes(len(head))+l.left))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	return protowire.AppendBytes(dst, head), nil
}
