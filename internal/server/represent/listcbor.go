package represent

import (
	"bytes"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/request"
)

// cborHead appends the head of a CBOR list, which is one map. The number of items is part of
// it, so they are counted first.
func (l *ListWriter) cborHead(dst []byte, m ListMeta) []byte {
	f, n, all := l.Representation, 0, l.Walk
	for range all.Items() {
		n++
	}
	kind, apiVersion := f.Endpoint.ListKind(), f.Endpoint.ServedGVK.GroupVersion().String()
	if f.Shape == request.AsPartialList {
		kind, apiVersion = "PartialObjectMetadataList", f.MetaAPIVersion()
	}
	m.ends = f.Endpoint.EmptyContinue && f.Shape == request.AsObject
	dst = codec.AppendCBORHead(append(dst, codec.CBORTag()...), codec.CBORMap, 4)
	dst = codec.AppendCBORString(codec.AppendCBORType(dst, kind, apiVersion), "metadata")
	dst = codec.AppendCBORString(m.appendCBOR(dst), "items")
	if n == 0 && f.Shape == request.AsPartialList {
		return append(dst, codec.CBORNull)
	}
	return codec.AppendCBORHead(dst, codec.CBORArray, n)
}

// AppendCBORFrameHead appends the head of a watch event, up to its object.
func AppendCBORFrameHead(dst []byte, t watch.EventType) []byte {
	dst = codec.AppendCBORHead(append(dst, codec.CBORTag()...), codec.CBORMap, 2)
	dst = codec.AppendCBORString(codec.AppendCBORString(dst, "type"), string(t))
	return append(codec.AppendCBORString(dst, "object"), codec.CBORTag()...)
}

// CBORFrameSize returns the size of the first item in a sequence of tagged ones.
func CBORFrameSize(seq []byte) int {
	item := seq[len(codec.CBORTag()):]
	frames := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(item)))
	n, err := frames.Read(make([]byte, len(item)))
	if err != nil {
		return len(seq)
	}
	return len(codec.CBORTag()) + n
}

// bareType reports whether elements leave out their kind and version, which a list gives once
// and bodies and events for each object.
func (f *Representation) bareType() bool {
	return f.Media == codec.CBOR && f.Shape == request.AsObject && f.Endpoint.BareItems
}

// AddType inserts the kind and version into the element that b holds from at on, if elements
// leave them out.
func (f *Representation) AddType(b []byte, at int) []byte {
	if !f.bareType() {
		return b
	}
	n, size := codec.ReadCBORHead(b[at:])
	apiVersion, kind := f.Endpoint.ServedGVK.ToAPIVersionAndKind()
	head := codec.AppendCBORHead(make([]byte, 0, 128), codec.CBORMap, n+2)
	head = codec.AppendCBORType(head, kind, apiVersion)
	return slices.Replace(b, at, at+size, head...)
}
