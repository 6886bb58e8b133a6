package server

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/server/patch"
)

// unpatched spares decoding what a patch has left alone: most patches touch one
// of metadata, spec and status, and the object before the patch is decoded
// already. It returns a copy of old, which the text before is of, without the
// members that the text after has not as they were, and the text of those that
// are to be decoded into it.
//
// It declines if old is not of the type of the path's version, or is no Go
// struct with metadata.
func unpatched(obj, old runtime.Object, before, after []byte) (runtime.Object, []byte, bool) {
	if reflect.TypeOf(obj) != reflect.TypeOf(old) || memberField(reflect.ValueOf(obj).Elem(), "metadata") < 0 {
		return nil, nil, false
	}
	names, text := patch.Changed(before, after)
	obj = old.DeepCopyObject()
	v := reflect.ValueOf(obj).Elem()
	for _, name := range names {
		if i := memberField(v, name); i >= 0 {
			v.Field(i).SetZero()
		}
	}
	return obj, text, true
}

// memberField is the index of the struct's field that has a name in JSON, -1 if
// there is none.
func memberField(v reflect.Value, name string) int {
	if v.Kind() != reflect.Struct {
		return -1
	}
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if tag == name {
			return i
		}
	}
	return -1
}
