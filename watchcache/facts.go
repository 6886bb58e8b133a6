package watchcache

import (
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// facts are what selectors and preconditions ask of an object, read from its
// bytes in one pass. Their strings share the object's memory.
type facts struct {
	uid    string
	labels []label
	// fields has one value for each of Options.Fields.
	fields []string
}

type label struct{ key, value string }

// Has, Get and Lookup make facts the labels.Labels of its object.
func (f *facts) Has(key string) bool {
	_, ok := f.Lookup(key)
	return ok
}

// Get is the label's value, "" if it is not there.
func (f *facts) Get(key string) string {
	value, _ := f.Lookup(key)
	return value
}

// Lookup is the label's value and whether it is there.
func (f *facts) Lookup(key string) (string, bool) {
	for i := range f.labels {
		if f.labels[i].key == key {
			return f.labels[i].value, true
		}
	}
	return "", false
}

var _ labels.Labels = (*facts)(nil)

// path is a node in the tree of the JSON paths that a cache's facts stand at.
type path struct {
	name string
	kids []*path
	// fields end here: their value is the scalar at this place.
	fields      []fieldPath
	uid, labels bool
}

// fieldPath is one of the places a field's value may stand at; the one of the
// lowest rank, from 1, that is present counts.
type fieldPath struct {
	field int
	rank  uint8
}

func (p *path) kid(name string) *path {
	for _, k := range p.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (p *path) add(names []string) *path {
	for _, name := range names {
		k := p.kid(name)
		if k == nil {
			k = &path{name: name}
			p.kids = append(p.kids, k)
		}
		p = k
	}
	return p
}

// newPaths is the tree for a resource with these fields.
func newPaths(fs []Field) *path {
	root := &path{}
	root.add([]string{"metadata", "uid"}).uid = true
	root.add([]string{"metadata", "labels"}).labels = true
	for i, f := range fs {
		for rank, names := range f.Paths {
			p := root.add(names)
			p.fields = append(p.fields, fieldPath{i, uint8(rank + 1)})
		}
	}
	return root
}

// reading is one pass over an object.
type reading struct {
	b     []byte
	facts *facts
	// ranks: for each field, the rank of the path its value came from; 0 for
	// none.
	ranks []uint8
}

func readFacts(b []byte, paths *path, fs []Field) *facts {
	r := reading{b: b, facts: &facts{}}
	if len(fs) > 0 {
		r.facts.fields = make([]string, len(fs))
		for i := range fs {
			r.facts.fields[i] = fs[i].Zero
		}
		r.ranks = make([]uint8, len(fs))
	}
	if i := skipSpace(b, 0); i < len(b) && b[i] == '{' {
		r.object(i, paths)
	}
	return r.facts
}

// object reads the object at b[i] and returns the place after it, or -1 once
// everything below p has been met: the rest need not be looked at, which at
// the top level saves what follows the last wanted member.
func (r *reading) object(i int, p *path) int {
	m := membersOf(r.b, i)
	met := 0
	for m.next() {
		k := p.kid(m.key)
		if k == nil {
			m.skip()
			continue
		}
		if m.at = r.value(m.at, k); m.at < 0 {
			return -1
		}
		if met++; met == len(p.kids) && p.name == "" {
			return -1
		}
	}
	if m.broken {
		return -1
	}
	return m.at
}

func (r *reading) value(i int, p *path) int {
	if i < len(r.b) && r.b[i] == '{' {
		switch {
		case p.labels:
			return r.labels(i)
		case len(p.kids) > 0:
			return r.object(i, p)
		}
		return skipNested(r.b, i)
	}
	text, end, ok := scalarText(r.b, i)
	if !ok {
		return end
	}
	if p.uid {
		r.facts.uid = text
	}
	for _, f := range p.fields {
		if had := r.ranks[f.field]; had == 0 || f.rank < had {
			r.ranks[f.field] = f.rank
			r.facts.fields[f.field] = text
		}
	}
	return end
}

func (r *reading) labels(i int) int {
	var found [8]label
	labels := found[:0]
	m := membersOf(r.b, i)
	for m.next() {
		text, end, ok := scalarText(r.b, m.at)
		if ok && r.b[m.at] == '"' {
			labels = append(labels, label{m.key, text})
		}
		if m.at = end; end < 0 {
			return -1
		}
	}
	r.facts.labels = slices.Clone(labels)
	if m.broken {
		return -1
	}
	return m.at
}

// objectFields makes an object the fields.Fields of itself.
type objectFields Object

var _ fields.Fields = (*objectFields)(nil)

// Has says whether the resource has such a field.
func (f *objectFields) Has(name string) bool {
	_, ok := (*Object)(f).field(name)
	return ok
}

// Get is the field's value, "" if there is no such field.
func (f *objectFields) Get(name string) string {
	value, _ := (*Object)(f).field(name)
	return value
}
