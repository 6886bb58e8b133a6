package apiextensions

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// warnings reports keywords of schemas that have no effect, except those that the old definition had.
func warnings(d, old definition) []string {
	formats, sets := doubts(d)
	if old != nil {
		knownFormats, knownSets := doubts(old)
		known := func(list []string) func(string) bool {
			return func(s string) bool { return slices.Contains(list, s) }
		}
		formats = slices.DeleteFunc(formats, known(knownFormats))
		sets = slices.DeleteFunc(sets, known(knownSets))
	}
	slices.Sort(sets)
	return append(formats, slices.Compact(sets)...)
}

func doubts(d definition) (formats, sets []string) {
	in, err := internal(d)
	if err != nil {
		return nil, nil
	}
	version := environment.DefaultCompatibilityVersion()
	look := func(s *apiextensions.JSONSchemaProps) bool {
		if s.Format != "" {
			asked := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}
			for _, f := range schemavalidation.GetUnrecognizedFormats(asked, version) {
				formats = append(formats, fmt.Sprintf("unrecognized format %q", f))
			}
		}
		if s.XListType != nil && *s.XListType == "set" && s.Items != nil && s.Items.Schema != nil {
			if t := s.Items.Schema.Type; t == "object" || t == "array" {
				sets = append(sets, fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", t))
			}
		}
		return false
	}
	if v := in.Spec.Validation; v != nil && v.OpenAPIV3Schema != nil {
		validation.SchemaHas(v.OpenAPIV3Schema, look)
	}
	for _, v := range in.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			validation.SchemaHas(v.Schema.OpenAPIV3Schema, look)
		}
	}
	return formats, sets
}
