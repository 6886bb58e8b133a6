package server

import (
	"bytes"
	"io"
	"iter"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/watchcache"
)

// writeCBORList writes a list as one map. The number of items stands before them,
// so they are walked twice.
func (c *call) writeCBORList(f *form, m listMeta, items iter.Seq[*watchcache.Object]) error {
	n := 0
	for range items {
		n++
	}
	out := c.startChunks(items)
	defer out.release()
	kind, apiVersion := f.ep.ListKind(), f.ep.gvk.GroupVersion().String()
	if f.shape == asPartialList {
		kind, apiVersion = "PartialObjectMetadataList", f.metaAPIVersion()
	}
	m.ends = f.ep.Custom != nil && f.shape == asObject
	b := appendCBORHead(append(out.buf, cborTag()...), cborMap, 4)
	b = appendCBORString(appendCBORType(b, kind, apiVersion), "metadata")
	b = appendCBORString(m.appendCBOR(b), "items")
	if n == 0 && f.shape == asPartialList {
		out.buf = append(b, cborNull)
		return out.end()
	}
	out.buf = appendCBORHead(b, cborArray, n)
	for o := range items {
		e, err := f.element(o)
		if err != nil {
			return err
		}
		out.buf = append(out.buf, e...)
		if err := out.spill(); err != nil {
			return err
		}
	}
	return out.end()
}

// appendCBORFrameHead appends what stands before the object of an event.
func appendCBORFrameHead(dst []byte, t watch.EventType) []byte {
	dst = appendCBORHead(append(dst, cborTag()...), cborMap, 2)
	dst = appendCBORString(appendCBORString(dst, "type"), string(t))
	return append(appendCBORString(dst, "object"), cborTag()...)
}

// cborSize is the size of the first item of a sequence of tagged ones.
func cborSize(seq []byte) int {
	item := seq[len(cborTag()):]
	frames := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(item)))
	n, err := frames.Read(make([]byte, len(item)))
	if err != nil {
		return len(seq)
	}
	return len(cborTag()) + n
}
