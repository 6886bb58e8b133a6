package kwok

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// crds are the CustomResourceDefinitions of the kinds, a file for each, named by its plural.
//
//go:embed crds
var crds embed.FS

// Definition is the CustomResourceDefinition of one of the kinds.
type Definition struct {
	Kind       string
	Resource   schema.GroupVersionResource
	Namespaced bool
	// CRD is the CustomResourceDefinition.
	CRD *unstructured.Unstructured
}

// Kinds returns the definitions of the kinds of those names, "*" for all, each once and in order.
func Kinds(names ...string) (list []Definition, err error) {
	var all []string
	files, err := crds.ReadDir("crds")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		def, err := readCRD("crds/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		all = append(all, def.Kind)
		if slices.Contains(names, def.Kind) || slices.Contains(names, "*") {
			list = append(list, def)
		}
	}
	for _, name := range names {
		if name != "*" && !slices.Contains(all, name) {
			return nil, fmt.Errorf("there is no kind %q; all are: %s", name, strings.Join(all, ", "))
		}
	}
	return list, nil
}

func readCRD(file string) (def Definition, err error) {
	text, err := crds.ReadFile(file)
	if err != nil {
		return def, err
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		return def, err
	}
	def.CRD = &unstructured.Unstructured{}
	if err := def.CRD.UnmarshalJSON(text); err != nil {
		return def, err
	}
	var read struct {
		Spec struct {
			Group string
			Names struct{ Kind, Plural string }
			Scope string
		}
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return def, err
	}
	def.Kind, def.Namespaced = read.Spec.Names.Kind, read.Spec.Scope == "Namespaced"
	def.Resource = schema.GroupVersionResource{Group: read.Spec.Group, Version: "v1alpha1", Resource: read.Spec.Names.Plural}
	return def, nil
}
