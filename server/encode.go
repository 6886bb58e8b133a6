package server

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

// protoMarshaler is what Go types with a protobuf form have.
type protoMarshaler interface{ Marshal() ([]byte, error) }

// encodeStored makes the bytes that are stored: JSON that begins with kind and
// apiVersion and has no resourceVersion. Nothing of the object is changed but
// its type.
func encodeStored(obj runtime.Object, gvk schema.GroupVersionKind) ([]byte, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	rv := m.GetResourceVersion()
	m.SetResourceVersion("")
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	data, err := encodeJSON(obj)
	m.SetResourceVersion(rv)
	return data, err
}

// encodeObject writes an object whose kind is set as a body.
func encodeObject(obj runtime.Object, a accept) ([]byte, error) {
	switch a.media {
	case mediaCBOR:
		data, err := marshalCBOR(obj)
		return append(cborTag(), data...), err
	case mediaProto:
		p, ok := obj.(protoMarshaler)
		if !ok {
			return nil, fmt.Errorf("object %T does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message", obj)
		}
		raw, err := p.Marshal()
		if err != nil {
			return nil, err
		}
		return appendEnvelope(nil, obj.GetObjectKind().GroupVersionKind(), raw), nil
	}
	data, err := encodeJSON(obj)
	if err != nil {
		return nil, err
	}
	return finishJSON(data, a)
}

// finishJSON gives JSON text the form asked for; the result may share it.
func finishJSON(data []byte, a accept) ([]byte, error) {
	switch {
	case a.media == mediaYAML:
		return yaml.JSONToYAML(data)
	case a.pretty:
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

// appendEnvelope appends a protobuf message in the envelope that names its
// kind: runtime.Unknown behind the prefix.
func appendEnvelope(dst []byte, gvk schema.GroupVersionKind, raw []byte) []byte {
	dst = appendEnvelopeHead(dst, gvk)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	return appendEnvelopeTail(protowire.AppendBytes(dst, raw))
}

func appendEnvelopeHead(dst []byte, gvk schema.GroupVersionKind) []byte {
	version := gvk.GroupVersion().String()
	dst = append(dst, protoPrefix...)
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(sizeString(version)+sizeString(gvk.Kind)))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, version)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	return protowire.AppendString(dst, gvk.Kind)
}

// appendEnvelopeTail says that the content has no encoding and no type of its
// own.
func appendEnvelopeTail(dst []byte) []byte { return append(dst, 0x1a, 0, 0x22, 0) }

func sizeString(s string) int { return 1 + protowire.SizeBytes(len(s)) }
