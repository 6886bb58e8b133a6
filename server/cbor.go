package server

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"fairlead.dev/internal/resource"
)

// cborCodec and strictCBOR decode Go types; the second objects to fields that
// they do not have.
var (
	cborCodec  = cbor.NewSerializer(resource.Scheme(), resource.Scheme())
	strictCBOR = cbor.NewSerializer(resource.Scheme(), resource.Scheme(), cbor.Strict(true))
)

// The heads of CBOR items that are put together here: the type in the upper three
// bits, and below them a length of up to 23, or how many bytes of length follow.
const (
	cborBytes = 2 << 5
	cborArray = 4 << 5
	cborMap   = 5 << 5
	cborNull  = 0xf6
)

// cborTag begins every body and, in it, every object of an event: tag 55799, of
// CBOR that says what it is.
func cborTag() []byte { return []byte{0xd9, 0xd9, 0xf7} }

func appendCBORHead(dst []byte, kind byte, n int) []byte {
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

// readCBORHead is the length that an item's head says, and how long the head is.
func readCBORHead(b []byte) (n, size int) {
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

// appendCBORString appends a string as Kubernetes writes them: as bytes, since it
// has not looked whether they are UTF-8.
func appendCBORString(dst []byte, s string) []byte {
	return append(appendCBORHead(dst, cborBytes, len(s)), s...)
}

// marshalCBOR is the object's CBOR, without the tag.
func marshalCBOR(obj runtime.Object) ([]byte, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return direct.Marshal(u.UnstructuredContent())
	}
	return direct.Marshal(obj)
}

// untyped says that the form's elements leave out their kind and version, which
// a list says once, and events and bodies for each.
func (f *form) untyped() bool {
	return f.media == mediaCBOR && f.shape == asObject && f.ep.Custom == nil
}

// typed puts the kind and version into the element that b holds from at on.
func (f *form) typed(b []byte, at int) []byte {
	if !f.untyped() {
		return b
	}
	n, size := readCBORHead(b[at:])
	apiVersion, kind := f.ep.gvk.ToAPIVersionAndKind()
	head := appendCBORHead(make([]byte, 0, 128), cborMap, n+2)
	head = appendCBORType(head, kind, apiVersion)
	return slices.Replace(b, at, at+size, head...)
}

// appendCBORType appends the members that say what an object is.
func appendCBORType(dst []byte, kind, apiVersion string) []byte {
	dst = appendCBORString(appendCBORString(dst, "kind"), kind)
	return appendCBORString(appendCBORString(dst, "apiVersion"), apiVersion)
}

// decodeCBOR is decodeBody for CBOR.
func decodeCBOR(data []byte, want schema.GroupVersionKind, obj runtime.Object, directive string) (warnings []string, err error) {
	codec := strictCBOR
	if directive == metav1.FieldValidationIgnore {
		codec = cborCodec
	}
	got, gvk, err := codec.Decode(data, &want, obj)
	objections, strict := runtime.AsStrictDecodingError(err)
	if strict && got != nil {
		err = nil
	}
	switch {
	case err != nil && gvk != nil && gvk.Kind != "":
		return nil, unhandled(*gvk, want, err)
	case err != nil:
		return nil, undecodable(want, data, err)
	case got != obj || *gvk != want:
		return nil, wrongKind(*gvk, want)
	}
	obj.GetObjectKind().SetGroupVersionKind(want)
	if !strict {
		return nil, nil
	}
	if directive == metav1.FieldValidationStrict {
		return nil, unhandled(want, want, objections)
	}
	return strictWarnings(objections.Errors()), nil
}

// fromCBOR makes a configuration's JSON. What stands in a map twice is no CBOR.
func (c *config) fromCBOR() error {
	var object map[string]any
	err := direct.Unmarshal(c.body, &object)
	if err == nil {
		c.text, err = json.Marshal(object)
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	c.body, c.plain = c.text, true
	return nil
}
