package apiextensions

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// withPatterns is a definition with n fields of a pattern.
func withPatterns(n int, pattern string) definition {
	s := &apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for i := range n {
		s.Properties[fmt.Sprintf("f%d", i)] = apiextensionsv1.JSONSchemaProps{Type: "string", Pattern: strings.ReplaceAll(pattern, "N", fmt.Sprint(i))}
	}
	d := &apiextensionsv1.CustomResourceDefinition{}
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s}}}
	return d
}

// TestPatterns checks that many patterns of nested repetition are rejected with one error, and that a few of them,
// or the ordinary patterns of a large definition, are accepted.
func TestPatterns(t *testing.T) {
	const nested = `^((xN{0,30}){0,30})$`
	if errs := patterns(withPatterns(4000, nested)); len(errs) != 1 || !strings.Contains(errs[0].Error(), "no more than 1048576 instructions") {
		t.Errorf("4000 nested ones: %v", errs)
	}
	if errs := patterns(withPatterns(100, nested)); len(errs) != 0 {
		t.Errorf("100 nested ones: %v", errs)
	}
	if errs := patterns(withPatterns(4000, `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?N$`)); len(errs) != 0 {
		t.Errorf("4000 ordinary ones: %v", errs)
	}
}
