package client

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/fxamacker/cbor/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/json"
)

// encoding is an encoding of objects.
type encoding uint8

const (
	inJSON encoding = iota
	inProtobuf
	inCBOR
)

// cborMagic is the self-describing tag of CBOR (RFC 8949, 3.4.6); every Kubernetes document
// in CBOR begins with it.
var cborMagic = []byte{0xd9, 0xd9, 0xf7}

func isCBOR(b []byte) bool { return bytes.HasPrefix(b, cborMagic) }

func encodeCBOR(obj any) ([]byte, string, error) {
	b, err := direct.Marshal(obj)
	return append(cborMagic[:len(cborMagic):len(cborMagic)], b...), ContentTypeCBOR, err
}

func decodeCBOR(b []byte, obj any) error {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return direct.Unmarshal(b, &u.Object)
	}
	err := direct.Unmarshal(b, obj)
	if unknown := (*cbor.UnknownFieldError)(nil); !errors.As(err, &unknown) {
		return err
	}
	// A field that a newer server has. Upstream's lenient decoder is not to be had, and
	// this is rare.
	var tree any
	if err := direct.Unmarshal(b, &tree); err != nil {
		return err
	}
	text, err := stdjson.Marshal(tree)
	if err != nil {
		return err
	}
	reflect.ValueOf(obj).Elem().SetZero()
	return json.UnmarshalCaseSensitivePreserveInts(text, obj)
}

func (c *objectCodec[T]) decodeCBORList(b []byte, l *List[T]) error {
	var w struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   metav1.ListMeta   `json:"metadata"`
		Items      []cbor.RawMessage `json:"items"`
	}
	if err := direct.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("client: decoding a list of %v: %w", c.elem, err)
	}
	l.ListMeta, l.Items = w.Metadata, make([]T, len(w.Items))
	for i, raw := range w.Items {
		obj := c.new()
		if err := decodeCBOR(raw, obj); err != nil {
			return fmt.Errorf("client: decoding %v: %w", c.elem, err)
		}
		if u, ok := any(obj).(*unstructured.Unstructured); ok && u.GetKind() == "" { // lists leave it out
			u.SetAPIVersion(w.APIVersion)
			u.SetKind(strings.TrimSuffix(w.Kind, "List"))
		}
		l.Items[i] = c.finish(obj)
	}
	return nil
}

// cborFrames reads a CBOR sequence (RFC 8742) of events.
type cborFrames struct {
	in  *cbor.Decoder
	buf []byte
}

func (f *cborFrames) more() bool { return false } // its decoder does not report it

func (f *cborFrames) next() (watch.EventType, []byte, error) {
	var frame cbor.RawMessage
	if err := f.in.Decode(&frame); err != nil {
		if err == io.EOF {
			return "", nil, err
		}
		return "", nil, unexpected(err)
	}
	var ev struct {
		Type   string          `json:"type"`
		Object cbor.RawMessage `json:"object"`
	}
	if err := direct.Unmarshal(frame, &ev); err != nil {
		return "", nil, fmt.Errorf("client: watch event: %w", err)
	}
	typ := eventType([]byte(ev.Type))
	if typ == "" {
		return "", nil, fmt.Errorf("client: watch event: unknown type %q", ev.Type)
	}
	f.buf = f.buf[:0]
	if !isCBOR(ev.Object) {
		f.buf = append(f.buf, cborMagic...)
	}
	f.buf = append(f.buf, ev.Object...)
	return typ, f.buf, nil
}
