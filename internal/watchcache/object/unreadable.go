package object

import (
	"slices"
	"strings"

	"fairlead.dev/storage"
)

// NewUnreadable returns the object of a stored key whose value New refuses. It has a key and
// revisions, but no attributes.
func NewUnreadable(kv *storage.KeyValue, k *Kind) *Object {
	o := &Object{kind: k, splice: splice{kind: nowhere}}
	o.body.Store(&body{kv: kv})
	return o
}

// ReadError returns why the value is unreadable.
func ReadError(o *Object) error {
	_, err := New(withValue(o.kv(), o.Value()), o.kind)
	return err
}

// SortByKey sorts objects by their keys.
func SortByKey(objects []*Object) {
	slices.SortFunc(objects, func(a, b *Object) int { return strings.Compare(a.Key(), b.Key()) })
}
