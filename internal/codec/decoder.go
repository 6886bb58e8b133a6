package codec

import (
	"sync"

	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/codec/fastproto"
	"fairlead.dev/internal/purego"
)

// Decoder decodes what a correct encoder has written, such as a server's responses. One made by [NewDecoder] interns:
// objects that it decodes share equal parts, and must never be modified. A nil Decoder does not intern.
type Decoder struct {
	mu    sync.Mutex
	json  *fastjson.Sharer
	proto *fastproto.Sharer
}

// NewDecoder returns a Decoder that interns.
func NewDecoder() *Decoder {
	return &Decoder{json: fastjson.NewSharer(), proto: fastproto.NewSharer()}
}

// JSON decodes text into the new object that into points to. Members without a field are not checked. With unmanaged
// it may leave out the managedFields of the object, or of the items of a list.
func (d *Decoder) JSON(text []byte, into any, unmanaged bool) error {
	if !purego.Enabled {
		if d.fastJSON(text, into, unmanaged) {
			return nil
		}
		reset(into)
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(text, into)
}

func (d *Decoder) fastJSON(text []byte, into any, unmanaged bool) bool {
	switch {
	case d == nil && unmanaged:
		return fastjson.UnmarshalUnmanaged(text, into)
	case d == nil:
		return fastjson.Unmarshal(text, into)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if unmanaged {
		return d.json.UnmarshalUnmanaged(text, into)
	}
	return d.json.Unmarshal(text, into)
}

// Message is a Go type with a protobuf form.
type Message interface{ Unmarshal([]byte) error }

// Protobuf decodes a message into the new object that into points to. was, if not nil, is the previous version of the
// object, of the same type; a Decoder that interns lets the two share equal parts.
func (d *Decoder) Protobuf(message []byte, into, was Message) error {
	if !purego.Enabled {
		if d.fastProtobuf(message, into, was) {
			return nil
		}
		reset(into)
	}
	return into.Unmarshal(message)
}

func (d *Decoder) fastProtobuf(message []byte, into, was Message) bool {
	if d == nil {
		return fastproto.Unmarshal(message, into)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.proto.Unmarshal(message, into, was)
}

// Names returns the namespace and name in the protobuf message of an object without decoding it. They are slices of
// message, empty if absent.
func Names(message []byte) (namespace, name []byte) { return fastproto.Names(message) }
