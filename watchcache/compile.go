package watchcache

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// compile splits a selection into a base, which is looked up, and a filter, which is evaluated. The
// best look-up wins: one object, then an indexed field, then a label, then a namespace.
func (c *Cache) compile(sel Selection) matcher {
	f := filter{namespace: sel.Namespace, name: sel.Name, readable: sel.Readable}
	if !c.opts.Namespaced {
		f.namespace = ""
	}
	var values []base
	f.takeFields(c, sel.Fields, &values)
	f.takeLabels(sel.Labels, &values)

	var b base
	switch {
	case f.name != "" && (f.namespace != "" || !c.opts.Namespaced):
		b = base{kind: byKey, value: c.Key(f.namespace, f.name)}
		f.name, f.namespace = "", ""
		f.restore(values)
	case len(values) > 0:
		b = values[0]
		f.restore(values[1:])
	case f.namespace != "":
		b = base{kind: byNamespace, value: strings.Clone(f.namespace)}
		f.namespace = ""
	}
	return matcher{base: b, filter: f.finish()}
}

// takeFields moves the selector into the filter, except names, namespaces and indexed values.
func (f *filter) takeFields(c *Cache, s fields.Selector, values *[]base) {
	if s == nil || s.Empty() {
		return
	}
	reqs := s.Requirements()
	if len(reqs) == 0 {
		f.nothing = true
	}
	for _, r := range reqs {
		equal := r.Operator != selection.NotEquals
		switch {
		case equal && r.Value != "" && r.Field == "metadata.name":
			f.narrow(&f.name, r.Value)
		case equal && r.Value != "" && r.Field == "metadata.namespace" && c.opts.Namespaced:
			f.narrow(&f.namespace, r.Value)
		case equal && c.indexed[r.Field]:
			*values = append(*values, base{byValue, dimension{name: strings.Clone(r.Field)}, strings.Clone(r.Value)})
		default:
			f.fields = append(f.fields, r)
		}
	}
}

func (f *filter) narrow(to *string, value string) {
	if *to != "" && *to != value {
		f.nothing = true
	}
	*to = value
}

func (f *filter) takeLabels(s labels.Selector, values *[]base) {
	if s == nil || s.Empty() {
		return
	}
	reqs, selectable := s.Requirements()
	f.nothing = f.nothing || !selectable
	for _, r := range reqs {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if vs := r.ValuesUnsorted(); len(vs) == 1 {
				*values = append(*values, base{byValue, dimension{true, strings.Clone(r.Key())}, strings.Clone(vs[0])})
				continue
			}
		}
		f.labels = append(f.labels, r)
	}
}

// restore turns values that are not looked up back into requirements.
func (f *filter) restore(values []base) {
	for _, v := range values {
		if !v.dim.label {
			f.fields = append(f.fields, fields.Requirement{Operator: selection.Equals, Field: v.dim.name, Value: v.value})
			continue
		}
		// The requirement came from a valid one of the same parts.
		r, _ := labels.NewRequirement(v.dim.name, selection.Equals, []string{v.value})
		if r == nil {
			f.nothing = true
			continue
		}
		f.labels = append(f.labels, *r)
	}
}

// finish returns the filter with its text; nil if it has no conditions.
func (f *filter) finish() *filter {
	if f.nothing {
		return &filter{nothing: true, text: "nothing"}
	}
	if f.namespace == "" && f.name == "" && !f.readable && len(f.fields) == 0 && len(f.labels) == 0 {
		return nil
	}
	var b strings.Builder
	// Quoted, so that no value can be made to look like another filter.
	fmt.Fprintf(&b, "%q/%q", f.namespace, f.name)
	if f.readable {
		b.WriteString(" readable")
	}
	for _, r := range f.fields {
		fmt.Fprintf(&b, " %q%s%q", r.Field, r.Operator, r.Value)
	}
	for _, r := range f.labels {
		fmt.Fprintf(&b, " %q", r.String())
	}
	f.text = b.String()
	return f
}
