package server

import (
	"bytes"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/request"
)

// cborHead appends what stands before the items of a CBOR list, which is one map. The
// number of items is part of it, so they are counted before.
func (l *listing) cborHead(dst []byte, m listMeta) []byte {
	f, n, all := l.f, 0, l.walk
	for range all.items() {
		n++
	}
	kind, apiVersion := f.ep.ListKind(), f.ep.ServedGVK.GroupVersion().String()
	if f.Shape == request.AsPartialList {
		kind, apiVersion = "PartialObjectMetadataList", f.MetaAPIVersion()
	}
	m.ends = f.ep.EmptyContinue && f.Shape == request.AsObject
	dst = codec.AppendCBORHead(append(dst, codec.CBORTag()...), codec.CBORMap, 4)
	dst = codec.AppendCBORString(codec.AppendCBORType(dst, kind, apiVersion), "metadata")
	dst = codec.AppendCBORString(m.appendCBOR(dst), "items")
	if n == 0 && f.Shape == request.AsPartialList {
		return append(dst, codec.CBORNull)
	}
	return codec.AppendCBORHead(dst, codec.CBORArray, n)
}

// appendCBORFrameHead appends what stands before the object of an event.
func appendCBORFrameHead(dst []byte, t watch.EventType) []byte {
	dst = codec.AppendCBORHead(append(dst, codec.CBORTag()...), codec.CBORMap, 2)
	dst = codec.AppendCBORString(codec.AppendCBORString(dst, "type"), string(t))
	return append(codec.AppendCBORString(dst, "object"), codec.CBORTag()...)
}

// cborSize is the size of the first item of a sequence of tagged ones.
func cborSize(seq []byte) int {
	item := seq[len(codec.CBORTag()):]
	frames := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(item)))
	n, err := frames.Read(make([]byte, len(item)))
	if err != nil {
		return len(seq)
	}
	return len(codec.CBORTag()) + n
}

// untyped says that the form's elements leave out their kind and version, which
// a list says once, and events and bodies for each.
func (f *form) untyped() bool {
	return f.Media == codec.CBOR && f.Shape == request.AsObject && f.ep.BareItems
}

// typed puts the kind and version into the element that b holds from at on.
func (f *form) typed(b []byte, at int) []byte {
	if !f.untyped() {
		return b
	}
	n, size := codec.ReadCBORHead(b[at:])
	apiVersion, kind := f.ep.ServedGVK.ToAPIVersionAndKind()
	head := codec.AppendCBORHead(make([]byte, 0, 128), codec.CBORMap, n+2)
	head = codec.AppendCBORType(head, kind, apiVersion)
	return slices.Replace(b, at, at+size, head...)
}
