package write

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/watchcache"
)

// preserveUnknownFields copies fields unknown to this server's Go types from the stored object
// into the bytes about to be written: a newer server has stored them. An update of the whole
// object drops them.
func (c *Operation) preserveUnknownFields(now *watchcache.Object, w *Written) {
	if c.lastRead.of != now || !c.lastRead.unknown || c.Info.Verb == "update" && c.Info.Subresource == "" {
		return
	}
	w.value = graft(c.lastRead.text, w.value, reflect.TypeOf(w.obj))
}

// graft adds to to, the text of a value of type t, the members of from that the type does not
// have.
func graft(from, to []byte, t reflect.Type) []byte {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return to
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return graftMembers(from, to, t)
	case reflect.Slice:
		return graftItems(from, to, t.Elem())
	}
	return to
}

func graftMembers(from, to []byte, t reflect.Type) []byte {
	if len(to) == 0 || to[0] != '{' {
		return to
	}
	list := jsonscan.Members(nil, to)
	at := make(map[string]int, len(list))
	for i, m := range list {
		at[m.Name()] = i
	}
	for _, m := range jsonscan.Members(nil, from) {
		i, there := at[m.Name()]
		member, known := memberType(t, m.Name())
		switch {
		case there && known:
			list[i].Value = graft(m.Value, list[i].Value, member)
		case !there && !known:
			list = append(list, m)
		}
	}
	out := append(make([]byte, 0, len(to)+64), '{')
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.Quote...), ':'), m.Value...)
	}
	return append(out, '}')
}

// graftItems grafts each item on the one of the same name or, in a list of unchanged length,
// of the same index.
func graftItems(from, to []byte, t reflect.Type) []byte {
	before, list := jsonscan.Items(nil, from), jsonscan.Items(nil, to)
	for i := range list {
		name := jsonscan.Find(list[i], "name")
		for k := range before {
			same := k == i && len(before) == len(list)
			if name != nil {
				same = bytes.Equal(name, jsonscan.Find(before[k], "name"))
			}
			if same {
				list[i] = graft(before[k], list[i], t)
				break
			}
		}
	}
	if len(list) == 0 {
		return to
	}
	return append(append([]byte{'['}, bytes.Join(list, []byte{','})...), ']')
}

// memberType returns the type of a member of a JSON object that decodes into t, if t has it.
func memberType(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "" && f.Anonymous && f.Type.Kind() == reflect.Struct {
			if m, ok := memberType(f.Type, name); ok {
				return m, true
			}
		}
		if tag == name || tag == "" && !f.Anonymous && f.Name == name {
			return f.Type, true
		}
	}
	return nil, false
}
