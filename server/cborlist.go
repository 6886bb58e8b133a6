package server

import (
	"bytes"
	"io"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/watch"
)

// cborHead appends what stands before the items of a CBOR list, which is one map. The
// number of items is part of it, so they are counted before.
func (l *listing) cborHead(dst []byte, m listMeta) []byte {
	f, n, all := l.f, 0, l.walk
	for range all.items() {
		n++
	}
	kind, apiVersion := f.ep.ListKind(), f.ep.gvk.GroupVersion().String()
	if f.shape == asPartialList {
		kind, apiVersion = "PartialObjectMetadataList", f.metaAPIVersion()
	}
	m.ends = f.ep.Custom != nil && f.shape == asObject
	dst = appendCBORHead(append(dst, cborTag()...), cborMap, 4)
	dst = appendCBORString(appendCBORType(dst, kind, apiVersion), "metadata")
	dst = appendCBORString(m.appendCBOR(dst), "items")
	if n == 0 && f.shape == asPartialList {
		return append(dst, cborNull)
	}
	return appendCBORHead(dst, cborArray, n)
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
