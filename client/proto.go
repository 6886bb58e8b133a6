package client

import (
	"bytes"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"google.golang.org/protobuf/encoding/protowire"
)

// protoObject is a type that k8s.io/api generated protobuf for.
type protoObject interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// The envelope of an object in protobuf: four bytes, then a runtime.Unknown.
var protoMagic = []byte{'k', '8', 's', 0}

var errProto = errors.New("client: malformed protobuf")

// splitProto opens the envelope. raw points into b.
func splitProto(b []byte) (raw []byte, ok bool) {
	return protoPart(b, 2)
}

// protoKind is the kind that the envelope names.
func protoKind(b []byte) (kind string) {
	meta, _ := protoPart(b, 1)
	_ = eachField(meta, func(f protowire.Number, v []byte) error {
		if f == 2 {
			kind = string(v)
		}
		return nil
	})
	return kind
}

// protoPart is a field of the envelope: its second is the object.
func protoPart(b []byte, number protowire.Number) (part []byte, ok bool) {
	if !bytes.HasPrefix(b, protoMagic) {
		return nil, false
	}
	ok = eachField(b[len(protoMagic):], func(f protowire.Number, v []byte) error {
		if f == number {
			part = v
		}
		return nil
	}) == nil
	return part, ok
}

// joinProto makes the envelope.
func joinProto(kind metav1.TypeMeta, obj protoObject) ([]byte, error) {
	raw, err := obj.Marshal()
	if err != nil {
		return nil, err
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: kind.APIVersion, Kind: kind.Kind}, Raw: raw}
	b := make([]byte, len(protoMagic)+u.Size())
	copy(b, protoMagic)
	_, err = u.MarshalTo(b[len(protoMagic):])
	return b, err
}

// eachField walks the length-delimited fields of a message and skips all others.
func eachField(b []byte, f func(protowire.Number, []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errProto
		}
		b = b[n:]
		if typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
				return errProto
			}
			b = b[n:]
			continue
		}
		v, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return errProto
		}
		b = b[n:]
		if err := f(num, v); err != nil {
			return err
		}
	}
	return nil
}
