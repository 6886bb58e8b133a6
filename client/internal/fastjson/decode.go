package fastjson

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Unmarshal decodes one JSON value into what into points to, which must be zero. False
// means that it could not; what into points to is then undefined.
func Unmarshal(b []byte, into any) bool {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return false
	}
	p := planOf(v.Type().Elem())
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.b, d.i = b, 0
	ok := d.value(p, v.Elem())
	d.space()
	ok = ok && d.i == len(d.b)
	d.b = nil
	return ok
}

// decoder is a position in the input. Its methods return false to give up.
type decoder struct {
	b []byte
	i int
	sharing
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// space skips white space and returns the byte after it, or 0 at the end.
func (d *decoder) space() byte {
	for ; d.i < len(d.b); d.i++ {
		if c := d.b[d.i]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

func (d *decoder) literal(s string) bool {
	if len(d.b)-d.i < len(s) || string(d.b[d.i:d.i+len(s)]) != s {
		return false
	}
	d.i += len(s)
	return true
}

func (d *decoder) value(p *plan, v reflect.Value) bool {
	c := d.space()
	if c == 'n' && p.op != custom && p.op != unknown {
		switch p.op {
		case pointer, slice, bytes, mapping, stringMap, timestamp:
			v.SetZero()
		}
		return d.literal("null")
	}
	switch p.op {
	case text:
		s, ok := d.text()
		if ok {
			v.SetString(s)
		}
		return ok
	case structure:
		return d.structure(p, v)
	case pointer:
		if v.IsNil() {
			v.Set(reflect.New(p.elem.typ))
		}
		return d.value(p.elem, v.Elem())
	case slice:
		return d.slice(p, v)
	case stringMap:
		return d.stringMap(v.Addr().Interface().(*map[string]string))
	case mapping:
		return d.mapping(p, v)
	case integer:
		n, ok := d.number()
		if !ok || v.OverflowInt(n) {
			return false
		}
		v.SetInt(n)
		return true
	case unsigned:
		n, ok := d.number()
		if !ok || n < 0 || v.OverflowUint(uint64(n)) {
			return false
		}
		v.SetUint(uint64(n))
		return true
	case boolean:
		v.SetBool(c == 't')
		return c == 't' && d.literal("true") || c == 'f' && d.literal("false")
	case timestamp:
		return d.timestamp(v.Addr().Interface().(*metav1.Time))
	case bytes:
		s, ok := d.text()
		b, err := base64.StdEncoding.DecodeString(s)
		if !ok || err != nil {
			return false
		}
		v.SetBytes(b)
		return true
	case custom:
		from := d.i
		return d.skip() && v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(d.b[from:d.i]) == nil
	}
	return false
}

// structure reads an object into a struct. Servers write fields in the order of the
// struct, so each is looked for behind the one before it first.
func (d *decoder) structure(p *plan, v reflect.Value) bool {
	next := 0
	return d.object(func(name []byte) bool {
		i := -1
		for j := next; j < len(p.fields) && j < next+4; j++ {
			if p.fields[j].name == string(name) {
				i = j
				break
			}
		}
		if i < 0 {
			j, ok := p.byName[string(name)]
			if !ok {
				d.space()
				return d.skip()
			}
			i = j
		}
		next = i + 1
		f := &p.fields[i]
		fv := v
		for _, at := range f.index {
			fv = fv.Field(at)
		}
		return d.value(f.plan, fv)
	})
}

// object reads an object; member reads the value of each of its names.
func (d *decoder) object(member func(name []byte) bool) bool {
	if d.space() != '{' {
		return false
	}
	d.i++
	if d.space() == '}' {
		d.i++
		return true
	}
	for {
		from := d.i
		name, plain := d.quoted()
		if !plain {
			s, ok := d.escaped(from)
			if !ok {
				return false
			}
			name = []byte(s)
		}
		if d.space() != ':' {
			return false
		}
		d.i++
		if !member(name) {
			return false
		}
		switch d.space() {
		case ',':
			d.i++
			d.space()
		case '}':
			d.i++
			return true
		default:
			return false
		}
	}
}

func (d *decoder) stringMap(into *map[string]string) bool {
	m := *into
	if m == nil {
		m = map[string]string{}
		*into = m
	}
	return d.object(func(name []byte) bool {
		k := d.share(name)
		if d.space() == 'n' {
			m[k] = ""
			return d.literal("null")
		}
		s, ok := d.text()
		m[k] = s
		return ok
	})
}

func (d *decoder) mapping(p *plan, v reflect.Value) bool {
	if v.IsNil() {
		v.Set(reflect.MakeMap(p.typ))
	}
	k, e := reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ).Elem()
	return d.object(func(name []byte) bool {
		k.SetString(d.share(name))
		e.SetZero()
		if !d.value(p.elem, e) {
			return false
		}
		v.SetMapIndex(k, e)
		return true
	})
}

// slice reads an array into a slice of just its length.
func (d *decoder) slice(p *plan, v reflect.Value) bool {
	if d.space() != '[' {
		return false
	}
	d.i++
	n, ok := d.count()
	if !ok {
		return false
	}
	v.Set(reflect.MakeSlice(p.typ, n, n))
	for i := range n {
		if i > 0 {
			d.space()
			d.i++ // the comma that count has seen
		}
		if !d.value(p.elem, v.Index(i)) {
			return false
		}
	}
	d.space()
	return d.literal("]")
}

func (d *decoder) timestamp(t *metav1.Time) bool {
	s, plain := d.quoted()
	if !plain {
		return false
	}
	x, err := time.Parse(time.RFC3339, string(s))
	t.Time = x.Local()
	return err == nil
}
