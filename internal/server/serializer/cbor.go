package serializer

import (
	"encoding/binary"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"fairlead.dev/internal/resource"
)

var (
	// CBORSerializer decodes CBOR into Go types. strictCBORSerializer also reports unknown and
	// duplicate fields.
	CBORSerializer       = cbor.NewSerializer(resource.Scheme(), resource.Scheme())
	strictCBORSerializer = cbor.NewSerializer(resource.Scheme(), resource.Scheme(), cbor.Strict(true))
)

// Major types of CBOR items, in the upper three bits of an item's head. The lower five bits
// hold a length of up to 23, or tell how many bytes of length follow.
const (
	cborBytes = 2 << 5
	CBORArray = 4 << 5
	CBORMap   = 5 << 5
	CBORNull  = 0xf6
)

// CBORTag returns the self-described CBOR tag, 55799. It begins every body and every object
// inside a watch event.
func CBORTag() []byte { return []byte{0xd9, 0xd9, 0xf7} }

// AppendCBORHead appends the head of an item of n bytes, elements or pairs. kind is CBORArray,
// CBORMap or a byte string.
func AppendCBORHead(dst []byte, kind byte, n int) []byte {
	switch {
	case n <= 23:
		return append(dst, kind|byte(n))
	case n <= 0xff:
		return append(dst, kind|24, byte(n))
	case n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(dst, kind|25), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, kind|26), uint32(n))
}

// ReadCBORHead returns the length that an item's head declares and the size of the head
// itself.
func ReadCBORHead(b []byte) (n, size int) {
	switch low := b[0] & 31; {
	case low <= 23:
		return int(low), 1
	case low == 24:
		return int(b[1]), 2
	case low == 25:
		return int(binary.BigEndian.Uint16(b[1:])), 3
	}
	return int(binary.BigEndian.Uint32(b[1:])), 5
}

// AppendCBORString appends a string as a CBOR byte string. Kubernetes encodes strings so
// because it does not check that they are UTF-8.
func AppendCBORString(dst []byte, s string) []byte {
	return append(AppendCBORHead(dst, cborBytes, len(s)), s...)
}

// MarshalCBOR returns the object's CBOR map, without the tag.
func MarshalCBOR(obj runtime.Object) ([]byte, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return direct.Marshal(u.UnstructuredContent())
	}
	return direct.Marshal(obj)
}

// AppendCBORType appends the members kind and apiVersion.
func AppendCBORType(dst []byte, kind, apiVersion string) []byte {
	dst = AppendCBORString(AppendCBORString(dst, "kind"), kind)
	return AppendCBORString(AppendCBORString(dst, "apiVersion"), apiVersion)
}

// decodeCBOR is DecodeBody for CBOR.
func decodeCBOR(data []byte, want schema.GroupVersionKind, obj runtime.Object, directive string) (warnings []string, err error) {
	codec := strictCBORSerializer
	if directive == metav1.FieldValidationIgnore {
		codec = CBORSerializer
	}
	got, gvk, err := codec.Decode(data, &want, obj)
	objections, strict := runtime.AsStrictDecodingError(err)
	if strict && got != nil {
		err = nil
	}
	switch {
	case err != nil && gvk != nil && gvk.Kind != "":
		return nil, CannotHandle(*gvk, want, err)
	case err != nil:
		return nil, Unrecognized(want, data, err)
	case got != obj || *gvk != want:
		return nil, wrongKind(*gvk, want)
	}
	obj.GetObjectKind().SetGroupVersionKind(want)
	if !strict {
		return nil, nil
	}
	if directive == metav1.FieldValidationStrict {
		return nil, CannotHandle(want, want, objections)
	}
	return StrictWarnings(objections.Errors()), nil
}
