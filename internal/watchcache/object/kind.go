package object

import (
	"bytes"
	"encoding/json"
	"strings"

	"fairlead.dev/storage"
)

// An Opener decrypts the value of a stored key. It is called with locks held, and should not wait for others that have
// failed lately, unless again is set: a read tries an unreadable value again.
type Opener func(kv *storage.KeyValue, again bool) ([]byte, error)

// A Kind tells how the keys and values of one resource's objects are read. It is immutable.
type Kind struct {
	// Prefix is the common prefix of the keys, ending in a slash.
	Prefix string
	// Namespaced: the rest of a key is namespace/name; otherwise it is the name.
	Namespaced bool
	Fields     []Field
	// Open, if not nil, decrypts the value of a stored key. The other members mean decrypted values.
	Open Opener
	// Read, if not nil, converts a stored value to JSON. It is not called for values that begin
	// with TypePrefix.
	Read       func(value []byte) ([]byte, error)
	TypePrefix []byte
	// Encodings keeps the encodings of the objects.
	Encodings *Encodings

	paths   *path
	fieldAt map[string]int
}

// An OpenError is the error of New for a value that Kind.Open cannot decrypt.
type OpenError struct{ Err error }

func (e *OpenError) Error() string { return e.Err.Error() }

// Unwrap returns the error of Kind.Open.
func (e *OpenError) Unwrap() error { return e.Err }

// NewKind completes a kind: objects can be made of it.
func NewKind(k Kind) *Kind {
	k.paths, k.fieldAt = newPaths(k.Fields), make(map[string]int, len(k.Fields))
	for i, f := range k.Fields {
		k.fieldAt[f.Label] = i
	}
	return &k
}

// Key returns the store's key of an object.
func (k *Kind) Key(namespace, name string) string {
	if !k.Namespaced {
		return k.Prefix + name
	}
	return k.Prefix + namespace + "/" + name
}

// names splits a key of this kind.
func (k *Kind) names(key string) (namespace, name string) {
	rest := key[len(k.Prefix):]
	if !k.Namespaced {
		return "", rest
	}
	namespace, name, _ = strings.Cut(rest, "/")
	return namespace, name
}

// decrypted returns the key with its value decrypted.
func (k *Kind) decrypted(kv *storage.KeyValue, again bool) (*storage.KeyValue, error) {
	if k.Open == nil {
		return kv, nil
	}
	value, err := k.Open(kv, again)
	if err != nil {
		return nil, &OpenError{err}
	}
	if len(value) == len(kv.Value) && (len(value) == 0 || &value[0] == &kv.Value[0]) { // it was not encrypted
		return kv, nil
	}
	return withValue(kv, value), nil
}

// stored returns the key with its value, which is decrypted, as JSON of this kind and version.
func (k *Kind) stored(kv *storage.KeyValue) (*storage.KeyValue, error) {
	if k.Read != nil && !bytes.HasPrefix(kv.Value, k.TypePrefix) {
		value, err := k.Read(kv.Value)
		if err != nil {
			return nil, err
		}
		kv = withValue(kv, value)
	}
	if !looksComplete(kv.Value) && !json.Valid(kv.Value) {
		return nil, errNotJSON
	}
	return kv, nil
}

// looksComplete reports whether the text ends as a JSON object does and has as many opening as
// closing braces. Valid JSON that fails this test is rare, as is truncated text that passes it, and
// the test is twenty times as fast as parsing.
func looksComplete(b []byte) bool {
	b = bytes.TrimRight(b, " \n\t\r")
	return len(b) > 0 && b[len(b)-1] == '}' && bytes.Count(b, opening) == bytes.Count(b, closing)
}

var opening, closing = []byte("{"), []byte("}")
