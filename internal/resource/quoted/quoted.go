package quoted

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Faults replaces error values that are structures of Kubernetes' API by values that are quoted as by
// kube-apiserver. It modifies the list.
func Faults(list field.ErrorList) field.ErrorList {
	for _, e := range list {
		if e.BadValue != nil && isOurs(reflect.TypeOf(e.BadValue)) {
			e.BadValue = whole{e.BadValue}
		}
	}
	return list
}

// whole is a value that is encoded with Go field names.
type whole struct{ value any }

func (w whole) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := write(&b, reflect.ValueOf(w.value))
	return b.Bytes(), err
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// isOurs reports whether values of the type contain structures with other names here than on the wire.
func isOurs(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return isOurs(t.Elem())
	case reflect.Struct:
		return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") && !t.Implements(marshaler)
	}
	return false
}

func write(b *bytes.Buffer, v reflect.Value) error {
	t := v.Type()
	if !isOurs(t) {
		data, err := json.Marshal(v.Interface())
		b.Write(data)
		return err
	}
	switch t.Kind() {
	case reflect.Struct:
		b.WriteByte('{')
		if err := members(b, v); err != nil {
			return err
		}
		b.WriteByte('}')
		return nil
	case reflect.Pointer:
		if !v.IsNil() {
			return write(b, v.Elem())
		}
	case reflect.Map:
		if !v.IsNil() {
			return writeMap(b, v)
		}
	default:
		if t.Kind() == reflect.Array || !v.IsNil() {
			return writeList(b, v)
		}
	}
	b.WriteString("null")
	return nil
}

func writeList(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('[')
	for i := range v.Len() {
		comma(b)
		if err := write(b, v.Index(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func writeMap(b *bytes.Buffer, v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return cmp.Compare(x.String(), y.String()) })
	b.WriteByte('{')
	for _, k := range keys {
		if err := member(b, k.String(), v.MapIndex(k)); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// members writes the fields of a structure, without braces.
func members(b *bytes.Buffer, v reflect.Value) error {
	t := v.Type()
	for _, name := range fields(t) {
		f, _ := t.FieldByName(name)
		at := v.FieldByIndex(f.Index)
		if slices.Contains(plain[t], name) && at.IsNil() {
			at = reflect.Zero(at.Type().Elem())
		}
		var err error
		switch {
		case !f.Anonymous:
			err = member(b, name, at)
		case isOurs(f.Type):
			err = members(b, at)
		default:
			err = inline(b, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fields returns the names of a structure's fields in quoting order.
func fields(t reflect.Type) []string {
	names := slices.Clone(orders[t])
	for i := range t.NumField() {
		name := t.Field(i).Name
		if !slices.Contains(names, name) && !slices.Contains(elsewhere[t], name) {
			names = append(names, name)
		}
	}
	return names
}

// inline writes the members of an embedded structure with JSON names.
func inline(b *bytes.Buffer, v reflect.Value) error {
	data, err := json.Marshal(v.Interface())
	if len(data) > len("{}") {
		comma(b)
		b.Write(data[1 : len(data)-1])
	}
	return err
}

func member(b *bytes.Buffer, name string, v reflect.Value) error {
	comma(b)
	fmt.Fprintf(b, "%q:", name)
	return write(b, v)
}

// comma writes a separator unless at the beginning.
func comma(b *bytes.Buffer) {
	if n := b.Len(); n > 0 && b.Bytes()[n-1] != '{' && b.Bytes()[n-1] != '[' && b.Bytes()[n-1] != ':' {
		b.WriteByte(',')
	}
}
