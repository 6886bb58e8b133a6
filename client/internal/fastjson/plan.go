package fastjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// plan is how to decode one Go type.
type plan struct {
	op     op
	typ    reflect.Type
	elem   *plan // of pointer, slice, map
	fields []field
	byName map[string]int // into fields
}

type field struct {
	name  string
	index []int
	plan  *plan
}

type op uint8

const (
	unknown op = iota
	boolean
	integer
	unsigned
	text
	pointer
	slice
	bytes
	mapping
	structure
	stringMap // map[string]string
	timestamp // metav1.Time
	custom    // its own UnmarshalJSON
)

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	timeType        = reflect.TypeFor[metav1.Time]()
	stringMapType   = reflect.TypeFor[map[string]string]()
)

var plans struct {
	sync.Mutex
	made sync.Map // reflect.Type -> *plan, complete
}

// planOf returns the plan of a type.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.made.Load(t); ok {
		return p.(*plan)
	}
	plans.Lock()
	defer plans.Unlock()
	making := map[reflect.Type]*plan{}
	p := build(t, making)
	for t, p := range making {
		plans.made.LoadOrStore(t, p)
	}
	return p
}

// build makes the plan of a type and of all it leads to. A type may lead to itself.
func build(t reflect.Type, making map[reflect.Type]*plan) *plan {
	if p := making[t]; p != nil {
		return p
	}
	p := &plan{typ: t}
	making[t] = p
	switch {
	case t == timeType:
		p.op = timestamp
	case t.Kind() == reflect.Pointer:
		p.op, p.elem = pointer, build(t.Elem(), making)
	case reflect.PointerTo(t).Implements(unmarshaler):
		p.op = custom
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		p.op = unknown
	case t == stringMapType:
		p.op = stringMap
	default:
		p.byKind(making)
	}
	return p
}

func (p *plan) byKind(making map[reflect.Type]*plan) {
	switch t := p.typ; t.Kind() {
	case reflect.Bool:
		p.op = boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.op = integer
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.op = unsigned
	case reflect.String:
		p.op = text
	case reflect.Slice:
		p.op, p.elem = slice, build(t.Elem(), making)
		if t.Elem().Kind() == reflect.Uint8 {
			p.op = bytes
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !reflect.PointerTo(t.Key()).Implements(textUnmarshaler) {
			p.op, p.elem = mapping, build(t.Elem(), making)
		}
	case reflect.Struct:
		p.op, p.byName = structure, map[string]int{}
		if !p.addFields(t, nil, making) {
			p.op = unknown
		}
	}
}

// addFields adds the fields of a struct, those of structs embedded in it included. It
// returns false where the rules for names would take more than this.
func (p *plan) addFields(t reflect.Type, at []int, making map[reflect.Type]*plan) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, opts, _ := strings.Cut(tag, ",")
		index := append(append([]int(nil), at...), i)
		switch {
		case tag == "-":
			continue
		case strings.Contains(opts, "string"):
			return false
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || !p.addFields(f.Type, index, making) {
				return false
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if _, twice := p.byName[name]; twice {
			return false
		}
		p.byName[name] = len(p.fields)
		p.fields = append(p.fields, field{name, index, build(f.Type, making)})
	}
	return true
}
