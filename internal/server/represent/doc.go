// Package represent encodes an endpoint's objects as a client has negotiated them: as objects
// of the endpoint's version, as a Table, or as metadata alone, in JSON, YAML, protobuf or CBOR.
// It makes bodies, lists and the frames of watch events.
//
// In JSON of the storage version an element is the stored bytes, and nothing is decoded. Other
// elements are made once and kept with the object where the watch cache keeps them.
package represent
