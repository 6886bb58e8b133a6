package openapi

import (
	"encoding/json"
	"maps"
	"slices"
)

// encoded is a JSON object whose members are encoded one by one: as Go values, all schemas of a document would take much more
// memory than its text. The zero value is empty.
type encoded struct {
	members map[string][]byte
	err     error // the first one
}

// add encodes a member.
func (o *encoded) add(name string, v any) {
	text, err := json.Marshal(v)
	if err != nil && o.err == nil {
		o.err = err
	}
	o.set(name, text)
}

// addObject adds a member that is encoded already.
func (o *encoded) addObject(name string, v *encoded) {
	if v.err != nil && o.err == nil {
		o.err = v.err
	}
	o.set(name, v.text())
}

func (o *encoded) set(name string, text []byte) {
	if o.members == nil {
		o.members = map[string][]byte{}
	}
	o.members[name] = text
}

// text returns the object with sorted names, as encoding/json writes a map.
func (o *encoded) text() []byte {
	size := 2
	for name, text := range o.members {
		size += len(name) + len(text) + 4
	}
	b := append(make([]byte, 0, size), '{')
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		key, _ := json.Marshal(name) // a string, cannot fail
		b = append(append(append(b, key...), ':'), o.members[name]...)
	}
	return append(b, '}')
}
