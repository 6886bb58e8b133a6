package fastjson

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// message describes how to convert the JSON of a struct to its protobuf message. The values in an object's JSON
// are recorded in slots: one for each field of the message, and for the fields of structs inlined in the JSON.
type message struct {
	// members are the JSON's members, in the order of the Go struct.
	members []member
	byName  map[string]int
	// fields are the message's fields, in the order of their numbers.
	fields []protoField
	slots  int
	// bad marks a type that cannot be converted.
	bad bool
}

// member is a member of the JSON object; its value is recorded in a slot.
type member struct {
	name string
	slot int
	protoType
	many bool // an array whose elements have the protoType
}

// protoField is a field of the message.
type protoField struct {
	tag    string
	number protowire.Number
	slot   int
	protoType
	// zero is the encoding of an absent field.
	zero string
	// inline is the message of an inlined struct. Its members are in the JSON of the enclosing struct, with its
	// slots from slot on.
	inline *message
}

// protoType is the form of a value in a message.
type protoType struct {
	kind protoKind
	msg  *message
	elem *protoType // of a map's values
	size uintptr
}

type protoKind uint8

const (
	noProto protoKind = iota
	protoText
	protoInt
	protoBool
	protoBytes
	protoMessage
	protoMap
	protoTime // metav1.Time: seconds, and nanoseconds that are always 0
	protoMicroTime
	protoQuantity // a message of its text
	protoIntText  // intstr.IntOrString
	protoRaw      // a message of the JSON itself
	protoTexts    // a message of a list of strings
)

var specialProto = map[reflect.Type]protoKind{
	reflect.TypeFor[metav1.Time]():          protoTime,
	reflect.TypeFor[metav1.MicroTime]():     protoMicroTime,
	reflect.TypeFor[resource.Quantity]():    protoQuantity,
	reflect.TypeFor[intstr.IntOrString]():   protoIntText,
	reflect.TypeFor[metav1.FieldsV1]():      protoRaw,
	reflect.TypeFor[runtime.RawExtension](): protoRaw,
}

// zeroOf has the encoding of an absent value, after its tag, for the kinds that are written even if absent.
var zeroOf = map[protoKind]string{
	protoText: "\x00", protoInt: "\x00", protoBool: "\x00", protoTime: "\x00", protoMicroTime: "\x00", protoRaw: "\x00",
	protoQuantity: "\x03\x0a\x01" + "0",
	protoIntText:  "\x06\x08\x00\x10\x00\x1a\x00",
}

type marshalsProto interface{ Marshal() ([]byte, error) }

var marshalsProtoType = reflect.TypeFor[marshalsProto]()

var messages registry[message]

func messageOf(t reflect.Type) *message { return messages.get(t, buildMessage, (*message).complete) }

// buildMessage makes the codec of a struct's message and of all types it refers to.
func buildMessage(t reflect.Type, making map[reflect.Type]*message) *message {
	if m := making[t]; m != nil {
		return m
	}
	m := &message{byName: map[string]int{}}
	making[t] = m
	if t.Kind() != reflect.Struct || !reflect.PointerTo(t).Implements(marshalsProtoType) || reflect.PointerTo(t).Implements(unmarshaler) {
		m.bad = true
		return m
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("protobuf")
		if tag == "" || tag == "-" {
			continue // like the kind and the API version
		}
		if !m.addField(f, strings.Split(tag, ","), making) {
			m.bad = true
			return m
		}
	}
	slices.SortFunc(m.fields, func(a, b protoField) int { return int(a.number - b.number) })
	return m
}

func (m *message) addField(f reflect.StructField, tag []string, making map[reflect.Type]*message) bool {
	if len(tag) < 3 || slices.Contains(tag, "packed") {
		return false
	}
	number, err := strconv.Atoi(tag[1])
	if err != nil {
		return false
	}
	name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
	field := protoField{number: protowire.Number(number), slot: m.slots}
	if f.Anonymous && name == "" {
		in := buildMessage(f.Type, making)
		if in.bad || f.Type.Kind() != reflect.Struct {
			return false
		}
		field.inline, field.tag = in, string(protowire.AppendTag(nil, field.number, protowire.BytesType))
		m.fields = append(m.fields, field)
		for _, k := range in.members {
			k.slot += m.slots
			if !m.addMember(k) {
				return false
			}
		}
		m.slots += in.slots
		return true
	}
	if name == "" || name == "-" || has(opts, "string") {
		return false
	}
	t, optional := f.Type, false
	if t.Kind() == reflect.Pointer {
		t, optional = t.Elem(), true
	}
	s, many := protoTypeOf(t, making)
	wire := protowire.BytesType
	if s.kind == protoInt || s.kind == protoBool {
		wire = protowire.VarintType
	}
	field.protoType, field.tag = s, string(protowire.AppendTag(nil, field.number, wire))
	if !optional && !many && s.kind != protoMap && s.kind != protoBytes && s.kind != protoTexts {
		// For a message it is completed when all codecs are made.
		field.zero = field.tag + zeroOf[s.kind]
		if s.kind == noProto {
			return false
		}
	}
	m.fields = append(m.fields, field)
	m.slots++
	return m.addMember(member{name, field.slot, s, many})
}

func (m *message) addMember(k member) bool {
	if _, twice := m.byName[k.name]; twice {
		return false
	}
	m.byName[k.name] = len(m.members)
	m.members = append(m.members, k)
	return len(m.members) <= len(noSlots)
}

// protoTypeOf returns the protoType of a type's values; many is set for a list of them.
func protoTypeOf(t reflect.Type, making map[reflect.Type]*message) (s protoType, many bool) {
	if k := specialProto[t]; k != noProto {
		return protoType{kind: k}, false
	}
	ptr := reflect.PointerTo(t)
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String && t.Implements(marshalsProtoType) {
		return protoType{kind: protoTexts}, false
	}
	if t.Kind() != reflect.Struct && (ptr.Implements(unmarshaler) || ptr.Implements(textUnmarshaler) || ptr.Implements(marshalsProtoType)) {
		return protoType{}, false
	}
	switch t.Kind() {
	case reflect.String:
		s.kind = protoText
	case reflect.Int, reflect.Int32, reflect.Int64:
		s.kind, s.size = protoInt, t.Size()
	case reflect.Bool:
		s.kind = protoBool
	case reflect.Struct:
		if s.msg = buildMessage(t, making); !s.msg.bad {
			s.kind = protoMessage
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return protoType{kind: protoBytes}, false
		}
		s, many = protoTypeOf(t.Elem(), making)
		if many || s.kind == protoMap {
			return protoType{}, false
		}
		return s, true
	case reflect.Map:
		elem, lists := protoTypeOf(t.Elem(), making)
		if t.Key().Kind() == reflect.String && !lists && elem.kind != noProto && elem.kind != protoMap {
			s.kind, s.elem = protoMap, &elem
		}
	}
	return s, many
}

// complete adds the encoding of absent messages.
func (m *message) complete() {
	for i := range m.fields {
		if f := &m.fields[i]; f.protoType.kind == protoMessage && f.zero != "" {
			f.zero = f.tag + string(protowire.AppendBytes(nil, f.protoType.msg.zero()))
		}
	}
}

// zero returns the message of the object {}.
func (m *message) zero() []byte {
	var b []byte
	for i := range m.fields {
		switch f := &m.fields[i]; {
		case f.inline != nil:
			b = protowire.AppendBytes(append(b, f.tag...), f.inline.zero())
		case f.protoType.kind == protoMessage && f.zero != "":
			b = protowire.AppendBytes(append(b, f.tag...), f.protoType.msg.zero())
		default:
			b = append(b, f.zero...)
		}
	}
	return b
}
