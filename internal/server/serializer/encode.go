package serializer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// protoPrefix begins every protobuf body.
var protoPrefix = []byte("k8s\x00")

// protoMarshaler is implemented by Go types that have a protobuf form.
type protoMarshaler interface{ Marshal() ([]byte, error) }

// EncodeStored returns the value to be stored for an object: JSON that begins with kind and
// apiVersion and has no resourceVersion. exact reports whether decoding it is known to yield an
// equal object. It sets the object's type to gvk and changes nothing else.
func EncodeStored(obj runtime.Object, gvk schema.GroupVersionKind) (data []byte, exact bool, err error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, false, err
	}
	rv := m.GetResourceVersion()
	m.SetResourceVersion("")
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	data, exact, err = encodeExact(obj)
	m.SetResourceVersion(rv)
	return data, exact, err
}

// EncodeBody returns a response body for an object whose kind is set.
func EncodeBody(obj runtime.Object, m MediaType, pretty bool) ([]byte, error) {
	switch m {
	case CBOR:
		data, err := MarshalCBOR(obj)
		return append(CBORTag(), data...), err
	case Protobuf:
		p, ok := obj.(protoMarshaler)
		if !ok {
			return nil, fmt.Errorf("object %T does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message", obj)
		}
		raw, err := p.Marshal()
		if err != nil {
			return nil, err
		}
		return AppendEnvelope(nil, obj.GetObjectKind().GroupVersionKind(), raw), nil
	}
	data, err := encodeJSON(obj)
	if err != nil {
		return nil, err
	}
	return FinishJSON(data, m, pretty)
}

// FinishJSON turns JSON text into a body: YAML, indented JSON, or the text itself with a line
// break at its end. The result may share memory with data.
func FinishJSON(data []byte, m MediaType, pretty bool) ([]byte, error) {
	switch {
	case m == YAML:
		return yaml.JSONToYAML(data)
	case pretty:
		var b bytes.Buffer
		if err := json.Indent(&b, data, "", "  "); err != nil {
			return nil, err
		}
		return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
	}
	if n := len(data); n > 0 && data[n-1] == '\n' {
		return data, nil
	}
	return append(data, '\n'), nil
}

// AppendEnvelope appends a protobuf body: protoPrefix, then a runtime.Unknown that holds the
// kind and the message raw.
func AppendEnvelope(dst []byte, gvk schema.GroupVersionKind, raw []byte) []byte {
	dst = AppendEnvelopeHead(dst, gvk)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	return AppendEnvelopeTail(protowire.AppendBytes(dst, raw))
}

// AppendEnvelopeHead appends protoPrefix and the TypeMeta of runtime.Unknown, up to the field
// of the message.
func AppendEnvelopeHead(dst []byte, gvk schema.GroupVersionKind) []byte {
	version := gvk.GroupVersion().String()
	dst = append(dst, protoPrefix...)
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(sizeString(version)+sizeString(gvk.Kind)))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, version)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	return protowire.AppendString(dst, gvk.Kind)
}

// AppendEnvelopeTail appends the empty contentEncoding and contentType of runtime.Unknown.
func AppendEnvelopeTail(dst []byte) []byte { return append(dst, 0x1a, 0, 0x22, 0) }

// sizeString returns the size of a string field with a one-byte tag.
func sizeString(s string) int { return 1 + protowire.SizeBytes(len(s)) }

// Marshal returns an object's bare encoding: JSON text for JSON and YAML, a CBOR map without
// tag, or a protobuf message without envelope.
func Marshal(obj runtime.Object, m MediaType) ([]byte, error) {
	switch m {
	case JSON, YAML:
		return encodeJSON(obj)
	case CBOR:
		return MarshalCBOR(obj)
	}
	p, ok := obj.(protoMarshaler)
	if !ok {
		return nil, fmt.Errorf("object %T does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message", obj)
	}
	return p.Marshal()
}
