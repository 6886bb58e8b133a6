// Package serializer encodes and decodes API objects in the media types of Kubernetes: JSON,
// YAML, protobuf and CBOR. It does not depend on requests or storage.
//
// An encoder has two layers. [Marshal] makes an object's bare encoding: its JSON text, its
// protobuf message, or its CBOR map. Bodies, list items and watch frames are built around
// that: [FinishJSON] indents JSON or turns it into YAML, [AppendEnvelope] wraps a protobuf
// message in runtime.Unknown, and [CBORTag] precedes each CBOR item.
//
// Objects are decoded by internal/codec, whose errors and strictness are kube-apiserver's. Errors of this package are worded as
// kube-apiserver words them, since clients see them.
package serializer
