package server

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/patch"
)

// unpatched spares decoding what a patch has left alone: most patches touch one
// of metadata, spec and status, and the object before the patch is decoded
// already. It returns a copy of old, which the text before is of, without its record of
// owners and without the members that the text after has not as they were, and the
// text of those that are to be decoded into it.
//
// It declines if old is no Go struct with metadata.
func unpatched(old runtime.Object, before, after []byte) (runtime.Object, []byte, bool) {
	was := reflect.ValueOf(old).Elem()
	if memberField(was, "metadata") < 0 {
		return nil, nil, false
	}
	names, text := patch.Changed(before, after)
	part := reflect.New(was.Type())
	v := part.Elem()
	v.Set(was)
	for _, name := range names {
		if i := memberField(v, name); i >= 0 {
			v.Field(i).SetZero()
		}
	}
	part.Interface().(metav1.Object).SetManagedFields(nil)
	return part.Interface().(runtime.Object).DeepCopyObject(), text, true
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
