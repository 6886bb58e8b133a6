package managed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/rawmem"
	"fairlead.dev/internal/server/openapi"
)

// Path elements are written as in FieldsV1: "f:name" is a member, `k:{"name":"web"}` a list item by its keys,
// `v:"x"` a list item by its value, "i:3" a list item by its index.

// keyElement returns the path element of an item of a keyed list. ok is false if the item has no key.
func keyElement(keys []openapi.ShapeKey, item []byte) (e string, ok bool) {
	b := make([]byte, 0, 64)
	b = append(b, "k:{"...)
	for _, k := range keys {
		v := jsonscan.Find(item, k.Name)
		if v == nil {
			if v = k.Default; v == nil {
				continue
			}
		}
		if ok {
			b = append(b, ',')
		}
		ok = true
		b = append(b, '"')
		b = append(b, k.Name...)
		b = append(b, `":`...)
		b = append(b, v...)
	}
	return string(append(b, '}')), ok
}

// order compares elements: fields first, then keys, values and indexes.
func order(a, b string) int {
	if a == b {
		return 0
	}
	if a[0] != b[0] {
		return cmp.Compare(strings.IndexByte("fkvi", a[0]), strings.IndexByte("fkvi", b[0]))
	}
	switch a[0] {
	case 'k':
		return orderKeys(rawmem.Bytes(a[2:]), rawmem.Bytes(b[2:]))
	case 'v':
		return orderValues(rawmem.Bytes(a[2:]), rawmem.Bytes(b[2:]))
	case 'i':
		x, _ := strconv.Atoi(a[2:])
		y, _ := strconv.Atoi(b[2:])
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

func orderKeys(a, b []byte) int {
	var space [8]jsonscan.Member
	x, y := jsonscan.Members(space[:0:4], a), jsonscan.Members(space[4:4:8], b)
	for i := range min(len(x), len(y)) {
		if c := strings.Compare(x[i].Name(), y[i].Name()); c != 0 {
			return c
		}
		if c := orderValues(x[i].Value, y[i].Value); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// rank orders scalars of different types.
func rank(v []byte) int {
	switch v[0] {
	case '"':
		return 1
	case 't', 'f':
		return 2
	case '[':
		return 3
	case '{':
		return 4
	case 'n':
		return 5
	}
	return 0 // numbers
}

func orderValues(a, b []byte) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch rank(a) {
	case 0:
		x, errX := strconv.ParseInt(string(a), 10, 64)
		y, errY := strconv.ParseInt(string(b), 10, 64)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		f, _ := strconv.ParseFloat(string(a), 64)
		g, _ := strconv.ParseFloat(string(b), 64)
		return cmp.Compare(f, g)
	case 1:
		return strings.Compare(jsonscan.Unquote(a), jsonscan.Unquote(b))
	}
	return bytes.Compare(a, b) // false sorts before true
}

// same reports whether two values are equal as JSON values.
func same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if r := rank(a); r != rank(b) || r == 2 || r == 5 {
		return false
	} else if r < 2 {
		return orderValues(a, b) == 0
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return equal(x, y)
}

func equal(x, y any) bool {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return x == y
}
