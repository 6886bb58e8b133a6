package represent

import (
	"bytes"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
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
	dst = serializer.AppendCBORHead(append(dst, serializer.CBORTag()...), serializer.CBORMap, 4)
	dst = serializer.AppendCBORString(serializer.AppendCBORType(dst, kind, apiVersion), "metadata")
	dst = serializer.AppendCBORString(m.appendCBOR(dst), "items")
	if n == 0 && f.Shape == request.AsPartialList {
		return append(dst, serializer.CBORNull)
	}
	return serializer.AppendCBORHead(dst, serializer.CBORArray, n)
}

// AppendCBORFrameHead appends the head of a watch event, up to its object.
func AppendCBORFrameHead(dst []byte, t watch.EventType) []byte {
	dst = serializer.AppendCBORHead(append(dst, serializer.CBORTag()...), serializer.CBORMap, 2)
	dst = serializer.AppendCBORString(serializer.AppendCBORString(dst, "type"), string(t))
	return append(serializer.AppendCBORString(dst, "object"), serializer.CBORTag()...)
}

// CBORFrameSize returns the size of the first item in a sequence of tagged ones.
func CBORFrameSize(seq []byte) int {
	item := seq[len(serializer.CBORTag()):]
	frames := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(item)))
	n, err := frames.Read(make([]byte, len(item)))
	if err != nil {
		return len(seq)
	}
	return len(serializer.CBORTag()) + n
}

// bareType reports whether elements leave out their kind and version, which a list gives once
// and bodies and events for each object.
func (f *Representation) bareType() bool {
	return f.Media == serializer.CBOR && f.Shape == request.AsObject && f.Endpoint.BareItems
}

// AddType inserts the kind and version into the element that b holds from at on, if elements
// leave them out.
func (f *Representation) AddType(b []byte, at int) []byte {
	if !f.bareType() {
		return b
	}
	n, size := serializer.ReadCBORHead(b[at:])
	apiVersion, kind := f.Endpoint.ServedGVK.ToAPIVersionAndKind()
	head := serializer.AppendCBORHead(make([]byte, 0, 128), serializer.CBORMap, n+2)
	head = serializer.AppendCBORType(head, kind, apiVersion)
	return slices.Replace(b, at, at+size, head...)
}
