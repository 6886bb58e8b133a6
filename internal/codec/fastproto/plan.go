package fastproto

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// plan is how to decode the message of one Go type.
type plan struct {
	op     op
	typ    reflect.Type
	size   uintptr
	low    [16]*field // by number, if below 16: fields whose tag is one byte
	fields []*field   // by number, or nil
	all    []*field   // the same, in the order of the struct
	opaque bool       // the struct has fields that are not in all
	id     int        // of pointers to the type; 0 before the first
}

// field is a field of a message.
type field struct {
	offset uintptr
	size   uintptr // of the Go field
	tag    string  // in encoded form
	first  int     // byte of tag
	form   form
	op     op // the plan's
	wire   protowire.Type
	place  uint8 // index in the plan's all, unless that is opaque
	plan   *plan // of the value, of the pointer's target, or of an item
	typ    reflect.Type
	id     int // identifies fields whose equal bytes decode to equal values
}

// unknownField is the field of an unknown tag.
var unknownField = &field{first: -1}

// form is how a Go field holds its values.
type form uint8

const (
	plain form = iota
	pointer
	slice
	mapping // typ is the map's type, plan its values'
)

type op uint8

const (
	none op = iota
	text
	integer
	boolean
	bytes
	message
	timestamp // metav1.Time
	own       // its own Unmarshal
)

type unmarshaler interface{ Unmarshal([]byte) error }

var (
	unmarshalerType = reflect.TypeFor[unmarshaler]()
	timeType        = reflect.TypeFor[metav1.Time]()
	portType        = reflect.TypeFor[intstr.IntOrString]()
	quantityType    = reflect.TypeFor[resource.Quantity]()
)

const maxFields = 256 // the highest field number in a plan

var plans struct {
	sync.Mutex
	made sync.Map // reflect.Type -> *plan, complete
	ids  int
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

// build makes the plan of a type and of all types it refers to, which may include itself.
func build(t reflect.Type, making map[reflect.Type]*plan) *plan {
	if p := making[t]; p != nil {
		return p
	}
	if p, ok := plans.made.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{typ: t, size: t.Size()}
	for i := range p.low {
		p.low[i] = unknownField
	}
	making[t] = p
	able := reflect.PointerTo(t).Implements(unmarshalerType)
	switch {
	case t == timeType:
		p.op = timestamp
	case t.Kind() == reflect.Struct && able:
		if p.op = message; !generated(t) || !p.addFields(making) {
			p.op = own
		}
	case able:
		p.op = own
	default:
		p.op = scalars[t.Kind()]
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			p.op = bytes
		}
	}
	return p
}

var scalars = map[reflect.Kind]op{reflect.String: text, reflect.Bool: boolean, reflect.Int32: integer, reflect.Int64: integer}

// generated reports whether a type's Unmarshal follows its tags alone. Hand-written ones are in apimachinery's
// packages of small types.
func generated(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") || t == portType || strings.HasPrefix(t.PkgPath(), "k8s.io/apimachinery/pkg/apis/meta/v1") && plainMeta[t.Name()]
}

// plainMeta are the types of metav1 that occur in objects.
var plainMeta = map[string]bool{
	"ObjectMeta": true, "OwnerReference": true, "ManagedFieldsEntry": true, "FieldsV1": true, "LabelSelector": true,
	"LabelSelectorRequirement": true, "Condition": true, "PartialObjectMetadata": true,
}

func (p *plan) addFields(making map[reflect.Type]*plan) bool {
	for i := range p.typ.NumField() {
		sf := p.typ.Field(i)
		tag := strings.Split(sf.Tag.Get("protobuf"), ",")
		if tag[0] == "" || tag[0] == "-" {
			p.opaque = true
			continue
		}
		number, err := strconv.Atoi(at(tag, 1))
		if err != nil || number < 1 || number > maxFields {
			return false
		}
		f := &field{offset: sf.Offset, size: sf.Type.Size(), typ: sf.Type, place: uint8(len(p.all))}
		if !f.describe(making) {
			return false
		}
		f.tag = string(protowire.AppendTag(nil, protowire.Number(number), f.wire))
		f.first = int(f.tag[0])
		if number < len(p.low) {
			p.low[number] = f
		}
		plans.ids++
		f.id = plans.ids
		if f.form == pointer { // pointers to it may share a value
			if f.plan.id == 0 {
				f.plan.id = f.id
			}
			f.id = f.plan.id
		}
		for len(p.fields) <= number {
			p.fields = append(p.fields, nil)
		}
		p.fields[number] = f
		p.all = append(p.all, f)
	}
	p.opaque = p.opaque || len(p.all) > 64
	return true
}

func at(s []string, i int) string {
	if i < len(s) {
		return s[i]
	}
	return ""
}

// describe determines how a field of a Go type is encoded.
func (f *field) describe(making map[reflect.Type]*plan) bool {
	t := f.typ
	switch {
	case reflect.PointerTo(t).Implements(unmarshalerType):
		f.plan = build(t, making)
	case t.Kind() == reflect.Pointer:
		f.form, f.plan = pointer, build(t.Elem(), making)
	case t.Kind() == reflect.Map:
		f.form, f.plan = mapping, build(t.Elem(), making)
		if t.Key().Kind() != reflect.String {
			return false
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		f.form, f.plan = slice, build(t.Elem(), making)
	default:
		f.plan = build(t, making)
	}
	f.op = f.plan.op
	f.wire = protowire.BytesType
	if f.plan.op == integer || f.plan.op == boolean {
		f.wire = protowire.VarintType
		return f.form != mapping
	}
	return f.plan.op != none
}
