package endpoint

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/patch"
)

// unpatched spares decoding the members that a patch leaves alone: most patches touch one of
// metadata, spec and status, and the object before the patch is decoded already. before and
// after are the object's text. It returns a copy of old without managed fields and without the
// top-level members that differ, and the text of those members, to be decoded into the copy.
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

// memberField returns the index of the struct's field with a JSON name, or -1.
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
