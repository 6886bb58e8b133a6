package object

import (
	"errors"
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

// errReadableNow is the error for a value that has become readable since it was read.
var errReadableNow = errors.New("the value could not be decrypted when it was read, and can be now: read again")

// ReadError returns why the value of an unreadable object is unreadable.
func ReadError(o *Object) error {
	if _, err := New(withValue(o.kv(), o.Value()), o.kind); err != nil {
		return err
	}
	return errReadableNow
}

// CanReadNow reports whether the value of an unreadable object has become readable, because it can be decrypted now.
func CanReadNow(o *Object) bool {
	_, err := read(withValue(o.kv(), o.Value()), o.kind, true)
	return err == nil
}

// SortByKey sorts objects by their keys.
func SortByKey(objects []*Object) {
	slices.SortFunc(objects, func(a, b *Object) int { return strings.Compare(a.Key(), b.Key()) })
}
