package apiextensions

import (
	"fmt"
	"regexp/syntax"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxInstructions bounds the compiled patterns of all versions of a definition together,
// each instruction being some 40 bytes that are kept for as long as the definition is.
const maxInstructions = 1 << 20

// patterns rejects a definition whose patterns would take too much memory: nested repetitions of a few bytes
// compile to thousands of times their size.
func patterns(d definition) field.ErrorList {
	w := weigher{left: maxInstructions}
	for i, v := range d.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			w.schema(v.Schema.OpenAPIV3Schema, field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema"))
		}
	}
	return w.errs
}

// weigher adds up the compiled size of patterns, up to the limit.
type weigher struct {
	left int
	errs field.ErrorList
}

func (w *weigher) schema(s *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	if s == nil || w.left < 0 {
		return
	}
	if s.Pattern != "" {
		w.pattern(s.Pattern, at.Child("pattern"))
	}
	for _, m := range []struct {
		name string
		of   map[string]apiextensionsv1.JSONSchemaProps
	}{{"properties", s.Properties}, {"patternProperties", s.PatternProperties}, {"definitions", s.Definitions}} {
		for name, sub := range m.of {
			w.schema(&sub, at.Child(m.name).Key(name))
		}
	}
	for _, l := range []struct {
		name string
		of   []apiextensionsv1.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"oneOf", s.OneOf}, {"anyOf", s.AnyOf}} {
		for i := range l.of {
			w.schema(&l.of[i], at.Child(l.name).Index(i))
		}
	}
	w.schema(s.Not, at.Child("not"))
	if s.Items != nil {
		w.schema(s.Items.Schema, at.Child("items"))
		for i := range s.Items.JSONSchemas {
			w.schema(&s.Items.JSONSchemas[i], at.Child("items").Index(i))
		}
	}
	if s.AdditionalProperties != nil {
		w.schema(s.AdditionalProperties.Schema, at.Child("additionalProperties"))
	}
	if s.AdditionalItems != nil {
		w.schema(s.AdditionalItems.Schema, at.Child("additionalItems"))
	}
}

func (w *weigher) pattern(text string, at *field.Path) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return // reported elsewhere
	}
	if w.left -= instructions(re); w.left < 0 {
		w.errs = append(w.errs, field.Invalid(at, text, fmt.Sprintf("the patterns of a definition must compile to no more than %d instructions together: repeat less in what is repeated", maxInstructions)))
	}
}

// instructions estimates the number of instructions of a compiled pattern. Go's limits on repetitions prevent an
// overflow.
func instructions(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass:
		n = 1 + len(re.Rune)/8 // an instruction is as large as its class
	}
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}
