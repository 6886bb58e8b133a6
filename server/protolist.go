package server

import (
	"fmt"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/watchcache"
)

// writeProtoList writes a list as one message. Its length stands before it, so
// the items are walked twice: for their sizes, which are kept with the objects,
// and to be written. So no request holds more than one of them.
func (c *call) writeProtoList(f *form, m listMeta, items iter.Seq[*watchcache.Object]) error {
	gvk := schema.GroupVersionKind{Group: f.ep.gvk.Group, Version: f.ep.gvk.Version, Kind: f.ep.ListKind()}
	if f.shape == asPartialList {
		gvk = schema.GroupVersionKind{Group: "meta.k8s.io", Version: f.meta, Kind: "PartialObjectMetadataList"}
	}
	head := m.appendProto(nil)
	size := 1 + protowire.SizeBytes(len(head))
	for o := range items {
		n, err := o.FormSize(f.id, f.buildForm)
		if err != nil {
			return err
		}
		size += 1 + protowire.SizeBytes(n)
	}

	out := c.startChunks(items)
	defer out.release()
	out.buf = appendEnvelopeHead(out.buf, gvk)
	out.buf = protowire.AppendTag(out.buf, 2, protowire.BytesType)
	out.buf = protowire.AppendVarint(out.buf, uint64(size))
	out.buf = protowire.AppendTag(out.buf, 1, protowire.BytesType)
	out.buf = protowire.AppendBytes(out.buf, head)
	size -= 1 + protowire.SizeBytes(len(head))
	for o := range items {
		e, err := f.element(o)
		if err != nil {
			return err
		}
		if size -= 1 + protowire.SizeBytes(len(e)); size < 0 {
			return fmt.Errorf("%s: an encoding differs from time to time", o.Key())
		}
		out.buf = f.appendItem(out.buf, e)
		if err := out.spill(); err != nil {
			return err
		}
	}
	if size != 0 {
		return fmt.Errorf("%s: a list's length is off by %d", f.ep.gr, size)
	}
	out.buf = appendEnvelopeTail(out.buf)
	return out.end()
}
