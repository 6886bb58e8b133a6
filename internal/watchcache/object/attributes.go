package object

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/codec/jsonscan"
)

// attributes are the labels, fields and UID of an object, which selectors and preconditions need. Those of an object that
// is packed are held as their difference to the values of a similar object, see like.
type attributes struct {
	*values
	// own has the texts in place of the values: for each its slot, its length as an unsigned varint, and itself. Slot 0
	// is the UID, the fields and then the values of the labels follow. It is "" for the values' own object.
	own string
}

// values are read from an object's bytes in one pass. Their strings share the object's memory.
type values struct {
	uid    string
	labels []label
	// fields has one value for each of Kind.Fields.
	fields []string
}

type label struct{ key, value string }

// slot returns the text of a slot, which is that of the values if no other is in its place.
func (f *attributes) slot(at int, text string) string {
	for own := f.own; own != ""; {
		n, size := uvarint(own[1:])
		end := 1 + size + n
		if int(own[0]) == at {
			return own[1+size : end]
		}
		own = own[end:]
	}
	return text
}

// uvarint is binary.Uvarint of a string.
func uvarint(s string) (n, size int) {
	for {
		b := s[size]
		n |= int(b&0x7f) << (7 * size)
		if size++; b < 0x80 {
			return n, size
		}
	}
}

func (f *attributes) uidText() string        { return f.slot(0, f.uid) }
func (f *attributes) field(i int) string     { return f.slot(1+i, f.fields[i]) }
func (f *attributes) labelText(i int) string { return f.slot(1+len(f.fields)+i, f.labels[i].value) }

// like returns a copy that does not share the object's memory, but the values of a similar object, if both have labels of
// the same keys. other are that object's, which are not packed.
func (f *attributes) like(other *attributes) *attributes {
	sameKey := func(a, b label) bool { return a.key == b.key }
	if !slices.EqualFunc(f.labels, other.labels, sameKey) || 1+len(f.fields)+len(f.labels) > math.MaxUint8 {
		return f.copied()
	}
	var room [256]byte
	own := room[:0]
	differ := func(slot int, text, than string) {
		if text != than {
			own = append(binary.AppendUvarint(append(own, byte(slot)), uint64(len(text))), text...)
		}
	}
	differ(0, f.uid, other.uid)
	for i, text := range f.fields {
		differ(1+i, text, other.fields[i])
	}
	for i, l := range f.labels {
		differ(1+len(f.fields)+i, l.value, other.labels[i].value)
	}
	return &attributes{other.values, string(own)}
}

// copied returns a copy that does not share the object's memory.
func (f *attributes) copied() *attributes {
	v := &values{strings.Clone(f.uid), slices.Clone(f.labels), slices.Clone(f.fields)}
	for i, l := range v.labels {
		v.labels[i] = label{strings.Clone(l.key), strings.Clone(l.value)}
	}
	for i, text := range v.fields {
		v.fields[i] = strings.Clone(text)
	}
	return &attributes{values: v}
}

// sameAttributes reports whether both have the same labels and fields.
func sameAttributes(a, b *attributes) bool {
	if len(a.labels) != len(b.labels) {
		return false
	}
	for i := range a.fields {
		if a.field(i) != b.field(i) {
			return false
		}
	}
	for i := range a.labels {
		if a.labels[i].key != b.labels[i].key || a.labelText(i) != b.labelText(i) {
			return false
		}
	}
	return true
}

// Has, Get and Lookup implement labels.Labels.
func (f *attributes) Has(key string) bool {
	_, ok := f.Lookup(key)
	return ok
}

// Get returns the label's value, "" without the label.
func (f *attributes) Get(key string) string {
	value, _ := f.Lookup(key)
	return value
}

// Lookup returns the label's value and whether the object has it.
func (f *attributes) Lookup(key string) (string, bool) {
	for i := range f.labels {
		if f.labels[i].key == key {
			return f.labelText(i), true
		}
	}
	return "", false
}

var _ labels.Labels = (*attributes)(nil)

// An attributeScan is one pass over an object.
type attributeScan struct {
	b      []byte
	values *values
	// ranks: for each field, the rank of the path its value came from; 0 without a value.
	ranks []uint8
}

func scanAttributes(b []byte, paths *path, fs []Field) *attributes {
	var found struct {
		attributes
		values
	}
	found.attributes.values = &found.values
	r := attributeScan{b: b, values: &found.values}
	if len(fs) > 0 {
		r.values.fields = make([]string, len(fs))
		for i := range fs {
			r.values.fields[i] = fs[i].Zero
		}
		r.ranks = make([]uint8, len(fs))
	}
	if i := jsonscan.Space(b, 0); i < len(b) && b[i] == '{' {
		r.object(i, paths)
	}
	return &found.attributes
}

// object reads the object at b[i] and returns the place after it, or -1 once every path below p has
// been met. At the top level this spares the scan of all that follows the last wanted member.
func (r *attributeScan) object(i int, p *path) int {
	m := jsonscan.Walk(r.b, i)
	met := 0
	for m.Next() {
		k := p.child(m.Key())
		if k == nil {
			m.Skip()
			continue
		}
		if m.At = r.value(m.At, k); m.At < 0 {
			return -1
		}
		if met++; met == len(p.children) && p.name == "" {
			return -1
		}
	}
	if m.Broken {
		return -1
	}
	return m.At
}

func (r *attributeScan) value(i int, p *path) int {
	if i < len(r.b) && r.b[i] == '{' {
		switch {
		case p.labels:
			return r.labels(i)
		case len(p.children) > 0:
			return r.object(i, p)
		}
		return jsonscan.Value(r.b, i)
	}
	text, end, ok := jsonscan.Scalar(r.b, i)
	if !ok {
		return end
	}
	if p.uid {
		r.values.uid = text
	}
	for _, f := range p.fields {
		if had := r.ranks[f.field]; had == 0 || f.rank < had {
			r.ranks[f.field] = f.rank
			r.values.fields[f.field] = text
		}
	}
	return end
}

func (r *attributeScan) labels(i int) int {
	var found [8]label
	labels := found[:0]
	m := jsonscan.Walk(r.b, i)
	for m.Next() {
		text, end, ok := jsonscan.Scalar(r.b, m.At)
		if ok && r.b[m.At] == '"' {
			labels = append(labels, label{m.Key(), text})
		}
		if m.At = end; end < 0 {
			return -1
		}
	}
	r.values.labels = slices.Clone(labels)
	if m.Broken {
		return -1
	}
	return m.At
}
