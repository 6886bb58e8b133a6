// Package codec encodes and decodes API objects as JSON and protobuf. Clients, server and store use it alike; media
// types, envelopes and the errors that users see are the callers'.
//
// It has two codecs and one rule. The fast codecs, fastjson and fastproto, handle the regular input that is nearly
// all there is, and give up on the rest. Upstream's (sigs.k8s.io/json, encoding/json, the generated code of
// k8s.io/api) then handle it, and word all errors. A program built with the tag purego uses upstream's alone, with
// the same results (package purego).
//
// Below it:
//
//	fastjson   JSON of Go types; JSON to protobuf; comparison of objects
//	fastproto  protobuf of Go types
//	intern     shares recently decoded values
//	jsonscan   finds values in JSON text without decoding it
//
// Only this package imports fastjson and fastproto, except internal/server/managed, which compares objects member by
// member. jsonscan has no twin and is for everybody.
//
// # Concurrency
//
// All functions may be called from any goroutine, and so may the methods of a [Decoder]. No function retains its
// input.
package codec
