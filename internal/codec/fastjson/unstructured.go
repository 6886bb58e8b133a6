package fastjson

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Object decodes a JSON object without a Go type: into maps, slices, strings, booleans, nil, int64 and float64, as
// sigs.k8s.io/json does when it preserves integers. It returns false for duplicate names. The input may be
// untrusted.
func Object(b []byte) (m map[string]any, ok bool) {
	d := decoders.Get().(*decoder)
	d.b, d.i, d.depth, d.strict = b, 0, 0, true
	if d.skipSpace() == '{' {
		m, ok = d.unstructuredObject()
		d.skipSpace()
		ok = ok && d.i == len(d.b)
	}
	d.b = nil
	decoders.Put(d)
	return m, ok
}

func (d *decoder) unstructured() (any, bool) {
	switch d.skipSpace() {
	case '{':
		return d.unstructuredObject()
	case '[':
		return d.unstructuredList()
	case '"':
		s, ok := d.text()
		return s, ok
	case 't':
		return true, d.literal("true")
	case 'f':
		return false, d.literal("false")
	case 'n':
		return nil, d.literal("null")
	}
	from := d.i
	if n, ok := d.number(); ok {
		return n, true
	}
	d.i = from
	text, ok := d.raw()
	if !ok {
		return nil, false
	}
	for _, c := range text {
		if c == '.' || c == 'e' || c == 'E' {
			x, err := strconv.ParseFloat(string(text), 64)
			return x, err == nil
		}
	}
	return nil, false // a number this long is left to the general decoder
}

func (d *decoder) unstructuredObject() (map[string]any, bool) {
	m := map[string]any{}
	for more := d.open('{'); more; more = d.more('}') {
		if d.skipSpace() != '"' {
			return nil, false
		}
		name, ok := d.text()
		if !ok || d.skipSpace() != ':' {
			return nil, false
		}
		d.i++
		v, ok := d.unstructured()
		if !ok {
			return nil, false
		}
		n := len(m)
		if m[name] = v; len(m) == n {
			return nil, false
		}
	}
	return m, d.close('}')
}

func (d *decoder) unstructuredList() (list []any, ok bool) {
	list = []any{}
	for more := d.open('['); more; more = d.more(']') {
		v, ok := d.unstructured()
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return list, d.close(']')
}

// MarshalObject returns the JSON of an object with the Go types that [Object] produces, byte for byte as
// encoding/json writes it. It returns false for other Go types.
func MarshalObject(m map[string]any) ([]byte, bool) {
	s := encoders.Get().(*encoder)
	defer encoders.Put(s)
	s.depth = 0
	b, ok := s.unstructured(s.b[:0], m)
	if s.b = b[:0]; cap(b) > maxPooled {
		s.b = nil
	}
	if !ok {
		return nil, false
	}
	return slices.Clone(b), true
}

func (s *encoder) unstructured(b []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), true
	case string:
		return s.text(b, v)
	case bool:
		return strconv.AppendBool(b, v), true
	case int64:
		return strconv.AppendInt(b, v, 10), true
	case float64:
		text, err := json.Marshal(v)
		return append(b, text...), err == nil
	case []any:
		return s.unstructuredList(b, v)
	case map[string]any:
		return s.unstructuredObject(b, v)
	}
	return b, false
}

func (s *encoder) unstructuredList(b []byte, list []any) ([]byte, bool) {
	if list == nil {
		return append(b, "null"...), true
	}
	if !s.enter() {
		return b, false
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = s.unstructured(b, v); !ok {
			return b, false
		}
	}
	s.depth--
	return append(b, ']'), true
}

// unstructuredObject uses the encoder's list of names behind the part that the enclosing objects use.
func (s *encoder) unstructuredObject(b []byte, m map[string]any) ([]byte, bool) {
	if m == nil {
		return append(b, "null"...), true
	}
	if !s.enter() {
		return b, false
	}
	from := len(s.keys)
	for k := range m {
		s.keys = append(s.keys, k)
	}
	to := len(s.keys)
	slices.Sort(s.keys[from:to])
	defer func() {
		clear(s.keys[from:to])
		s.keys = s.keys[:from]
	}()
	b = append(b, '{')
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ',')
		}
		k := s.keys[i]
		var ok bool
		if b, ok = s.text(b, k); !ok {
			return b, false
		}
		if b, ok = s.unstructured(append(b, ':'), m[k]); !ok {
			return b, false
		}
	}
	s.depth--
	return append(b, '}'), true
}
