package server

import (
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/watchcache"
)

// writeProtoList writes a list as one message. Its length stands before it, so
// the elements are gathered first; they are mostly shared ones.
func (c *call) writeProtoList(f *form, m listMeta, items iter.Seq[*watchcache.Object]) error {
	gvk := schema.GroupVersionKind{Group: f.ep.gvk.Group, Version: f.ep.gvk.Version, Kind: f.ep.ListKind()}
	if f.shape == asPartialList {
		gvk = schema.GroupVersionKind{Group: "meta.k8s.io", Version: f.meta, Kind: "PartialObjectMetadataList"}
	}
	head := m.appendProto(nil)
	size := 1 + protowire.SizeBytes(len(head))
	var elements [][]byte
	for o := range items {
		e, err := f.element(o)
		if err != nil {
			return err
		}
		elements = append(elements, e)
		size += 1 + protowire.SizeBytes(len(e))
	}

	out := c.startChunks(items)
	defer out.release()
	out.buf = appendEnvelopeHead(out.buf, gvk)
	out.buf = protowire.AppendTag(out.buf, 2, protowire.BytesType)
	out.buf = protowire.AppendVarint(out.buf, uint64(size))
	out.buf = protowire.AppendTag(out.buf, 1, protowire.BytesType)
	out.buf = protowire.AppendBytes(out.buf, head)
	for _, e := range elements {
		out.buf = f.appendItem(out.buf, e)
		if err := out.spill(); err != nil {
			return err
		}
	}
	out.buf = appendEnvelopeTail(out.buf)
	return out.end()
}
