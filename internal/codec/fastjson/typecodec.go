package fastjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// typeCodec is how to decode and encode one Go type.
type typeCodec struct {
	op     op
	typ    reflect.Type
	elem   *typeCodec // of a pointer, slice or map
	size   uintptr
	fields []field
	byName map[string]int // into fields
	sorted []int          // fields by name
	writes bool           // of a custom type: its values have a MarshalJSON
}

// field is a field of a struct, possibly promoted from an embedded one.
type field struct {
	name   string
	quoted string // "name":
	offset uintptr
	plan   *typeCodec
	empty  omitCondition
	id     int // unique among the fields that can be shared; 0 for others
	// managed marks managedFields.
	managed bool
}

// omitCondition is the condition under which a field is omitted.
type omitCondition uint8

const (
	always omitCondition = iota // never omitted
	omitEmpty
	omitZero
	omitZeroOf // by its IsZero method
)

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
	quantity  // resource.Quantity
	intOrText // intstr.IntOrString
	custom    // its own UnmarshalJSON
)

type zeroer interface{ IsZero() bool }

var (
	marshaler       = reflect.TypeFor[json.Marshaler]()
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	zeroerType      = reflect.TypeFor[zeroer]()
	fieldsType      = reflect.TypeFor[metav1.FieldsV1]()
	stringMapType   = reflect.TypeFor[map[string]string]()
	managedType     = reflect.TypeFor[[]metav1.ManagedFieldsEntry]()
)

// special are types that are common enough to have an op of their own.
var special = map[reflect.Type]op{
	reflect.TypeFor[metav1.Time]():        timestamp,
	reflect.TypeFor[resource.Quantity]():  quantity,
	reflect.TypeFor[intstr.IntOrString](): intOrText,
}

var typeCodecs registry[typeCodec]

// typeCodecOf returns the codec of a type.
func typeCodecOf(t reflect.Type) *typeCodec { return typeCodecs.get(t, buildTypeCodec, nil) }

// buildTypeCodec makes the codec of a type and of all types it refers to, which may include itself.
func buildTypeCodec(t reflect.Type, making map[reflect.Type]*typeCodec) *typeCodec {
	if p := making[t]; p != nil {
		return p
	}
	p := &typeCodec{typ: t, size: t.Size()}
	making[t] = p
	ptr := reflect.PointerTo(t)
	switch {
	case special[t] != unknown:
		p.op = special[t]
	case t.Kind() == reflect.Pointer:
		p.op, p.elem = pointer, buildTypeCodec(t.Elem(), making)
	case ptr.Implements(unmarshaler):
		p.op, p.writes = custom, t.Implements(marshaler)
	case ptr.Implements(textUnmarshaler), ptr.Implements(marshaler), ptr.Implements(textMarshaler):
		p.op = unknown
	case t == stringMapType:
		p.op = stringMap
	default:
		p.setKind(making)
	}
	return p
}

func (p *typeCodec) setKind(making map[reflect.Type]*typeCodec) {
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
		p.op, p.elem = slice, buildTypeCodec(t.Elem(), making)
		if t.Elem().Kind() == reflect.Uint8 {
			p.op = bytes
			if p.elem.op != unsigned { // bytes with codecs of their own
				p.op = unknown
			}
		}
	case reflect.Map:
		key := reflect.PointerTo(t.Key())
		if t.Key().Kind() == reflect.String && !key.Implements(textUnmarshaler) && !key.Implements(textMarshaler) {
			p.op, p.elem = mapping, buildTypeCodec(t.Elem(), making)
		}
	case reflect.Struct:
		p.op, p.byName = structure, map[string]int{}
		if !p.addFields(t, 0, making) || len(p.fields) > 8*len(fieldSet{}) {
			p.op = unknown
		}
		p.sortFields()
	}
}

// addFields adds the fields of a struct, including those of embedded structs. It returns false if names conflict,
// which is left to encoding/json.
func (p *typeCodec) addFields(t reflect.Type, at uintptr, making map[reflect.Type]*typeCodec) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, opts, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
			continue
		case has(opts, "string"):
			return false
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || !p.addFields(f.Type, at+f.Offset, making) {
				return false
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if _, twice := p.byName[name]; twice || strings.ContainsAny(name, `"\<>&`) {
			return false
		}
		p.byName[name] = len(p.fields)
		p.fields = append(p.fields, field{name, `"` + name + `":`, at + f.Offset, buildTypeCodec(f.Type, making), omitConditionOf(f.Type, opts), idOf(f), f.Type == managedType})
	}
	return true
}

// metadataDepth returns the depth of the members of the metadata in an object of the codec's type, or in the items
// of a list.
func (p *typeCodec) metadataDepth() int {
	if _, list := p.byName["items"]; list {
		return 4 // the list, its items, an item, its metadata
	}
	return 2
}

func omitConditionOf(t reflect.Type, opts string) omitCondition {
	switch {
	case has(opts, "omitzero") && (t.Implements(zeroerType) || reflect.PointerTo(t).Implements(zeroerType)):
		return omitZeroOf
	case has(opts, "omitzero"):
		return omitZero
	case has(opts, "omitempty"):
		return omitEmpty
	}
	return always
}

func has(opts, option string) bool {
	for o := range strings.SplitSeq(opts, ",") {
		if o == option {
			return true
		}
	}
	return false
}
