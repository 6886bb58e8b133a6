package selection

import (
	"fmt"
	"strings"

	"fairlead.dev/internal/watchcache/object"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	operator "k8s.io/apimachinery/pkg/selection"
)

// Compile splits a selection into a base, which is looked up, and a filter, which is evaluated. The
// best look-up wins: one object, then an indexed field, then a label, then a namespace.
//
// indexed are the labels of the fields that are looked up.
func Compile(k *object.Kind, indexed map[string]bool, sel Selection) Matcher {
	f := Filter{namespace: sel.Namespace, name: sel.Name, readable: sel.Readable}
	if !k.Namespaced {
		f.namespace = ""
	}
	var values []Base
	f.takeFields(k, indexed, sel.Fields, &values)
	f.takeLabels(sel.Labels, &values)

	var b Base
	switch {
	case f.name != "" && (f.namespace != "" || !k.Namespaced):
		b = Base{Kind: ByKey, Value: k.Key(f.namespace, f.name)}
		f.name, f.namespace = "", ""
		f.restore(values)
	case len(values) > 0:
		b = values[0]
		f.restore(values[1:])
	case f.namespace != "":
		b = Base{Kind: ByNamespace, Value: strings.Clone(f.namespace)}
		f.namespace = ""
	}
	return Matcher{Base: b, Filter: f.finish()}
}

// takeFields moves the selector into the filter, except names, namespaces and indexed values.
func (f *Filter) takeFields(k *object.Kind, indexed map[string]bool, s fields.Selector, values *[]Base) {
	if s == nil || s.Empty() {
		return
	}
	reqs := s.Requirements()
	if len(reqs) == 0 {
		f.nothing = true
	}
	for _, r := range reqs {
		equal := r.Operator != operator.NotEquals
		switch {
		case equal && r.Value != "" && r.Field == "metadata.name":
			f.narrow(&f.name, r.Value)
		case equal && r.Value != "" && r.Field == "metadata.namespace" && k.Namespaced:
			f.narrow(&f.namespace, r.Value)
		case equal && indexed[r.Field]:
			*values = append(*values, Base{ByValue, Dimension{Name: strings.Clone(r.Field)}, strings.Clone(r.Value)})
		default:
			f.fields = append(f.fields, r)
		}
	}
}

func (f *Filter) narrow(to *string, value string) {
	if *to != "" && *to != value {
		f.nothing = true
	}
	*to = value
}

func (f *Filter) takeLabels(s labels.Selector, values *[]Base) {
	if s == nil || s.Empty() {
		return
	}
	reqs, selectable := s.Requirements()
	f.nothing = f.nothing || !selectable
	for _, r := range reqs {
		switch r.Operator() {
		case operator.Equals, operator.DoubleEquals, operator.In:
			if vs := r.ValuesUnsorted(); len(vs) == 1 {
				*values = append(*values, Base{ByValue, Dimension{true, strings.Clone(r.Key())}, strings.Clone(vs[0])})
				continue
			}
		}
		f.labels = append(f.labels, r)
	}
}

// restore turns values that are not looked up back into requirements.
func (f *Filter) restore(values []Base) {
	for _, v := range values {
		if !v.Dim.Label {
			f.fields = append(f.fields, fields.Requirement{Operator: operator.Equals, Field: v.Dim.Name, Value: v.Value})
			continue
		}
		// The requirement came from a valid one of the same parts.
		r, _ := labels.NewRequirement(v.Dim.Name, operator.Equals, []string{v.Value})
		if r == nil {
			f.nothing = true
			continue
		}
		f.labels = append(f.labels, *r)
	}
}

// finish returns the filter with its text; nil if it has no conditions.
func (f *Filter) finish() *Filter {
	if f.nothing {
		return &Filter{nothing: true, text: "nothing"}
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
