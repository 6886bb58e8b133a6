package object

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/codec/jsonscan"
)

// attributes are the labels, fields and UID of an object, which selectors and preconditions need,
// read from its bytes in one pass. Their strings share the object's memory.
type attributes struct {
	uid    string
	labels []label
	// fields has one value for each of Kind.Fields.
	fields []string
}

type label struct{ key, value string }

// copied returns a copy that does not share the object's memory. It shares the strings that it has in common with another
// object's attributes.
func (f *attributes) copied(other *attributes) *attributes {
	c := &attributes{uid: strings.Clone(f.uid), labels: slices.Clone(f.labels), fields: slices.Clone(f.fields)}
	if slices.Equal(f.labels, other.labels) {
		c.labels = other.labels
	} else {
		for i := range c.labels {
			of := label{}
			if i < len(other.labels) {
				of = other.labels[i]
			}
			c.labels[i] = label{cloneUnless(of.key, c.labels[i].key), cloneUnless(of.value, c.labels[i].value)}
		}
	}
	for i := range c.fields {
		c.fields[i] = cloneUnless(other.fields[i], c.fields[i])
	}
	return c
}

// cloneUnless returns have if it equals s, and otherwise a copy of s.
func cloneUnless(have, s string) string {
	if have == s {
		return have
	}
	return strings.Clone(s)
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
			return f.labels[i].value, true
		}
	}
	return "", false
}

var _ labels.Labels = (*attributes)(nil)

// An attributeScan is one pass over an object.
type attributeScan struct {
	b          []byte
	attributes *attributes
	// ranks: for each field, the rank of the path its value came from; 0 without a value.
	ranks []uint8
}

func scanAttributes(b []byte, paths *path, fs []Field) *attributes {
	r := attributeScan{b: b, attributes: &attributes{}}
	if len(fs) > 0 {
		r.attributes.fields = make([]string, len(fs))
		for i := range fs {
			r.attributes.fields[i] = fs[i].Zero
		}
		r.ranks = make([]uint8, len(fs))
	}
	if i := jsonscan.Space(b, 0); i < len(b) && b[i] == '{' {
		r.object(i, paths)
	}
	return r.attributes
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
		r.attributes.uid = text
	}
	for _, f := range p.fields {
		if had := r.ranks[f.field]; had == 0 || f.rank < had {
			r.ranks[f.field] = f.rank
			r.attributes.fields[f.field] = text
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
	r.attributes.labels = slices.Clone(labels)
	if m.Broken {
		return -1
	}
	return m.At
}
