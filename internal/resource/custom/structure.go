package custom

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"

	"fairlead.dev/internal/purego"
)

// structure is the schema of one version.
type structure struct {
	props *apiextensions.JSONSchemaProps // nil if there is no schema
	tree  *structural.Structural         // nil likewise
	plan  *compiledStructure             // of the tree; nil if unknown fields are preserved everywhere
}

// readSchemas decodes the schemas of all versions: objects may be stored in any of them, even one that is no longer
// served.
func (k *Kind) readSchemas() (map[string]*structure, error) {
	var full apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(*k.text.Load(), &full); err != nil {
		return nil, err
	}
	all := map[string]*structure{}
	for i := range full.Spec.Versions {
		v := &full.Spec.Versions[i]
		s := &structure{}
		all[v.Name] = s
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		var in apiextensions.CustomResourceValidation
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, &in, nil); err != nil {
			return nil, err
		}
		s.props = in.OpenAPIV3Schema
		tree, err := structural.NewStructural(s.props)
		if err != nil && !full.Spec.PreserveUnknownFields {
			return nil, fmt.Errorf("the schema of %s %s is not structural: %w", full.Name, v.Name, err)
		}
		if err != nil {
			continue
		}
		if !full.Spec.PreserveUnknownFields {
			tree = tree.DeepCopy() // defaults are shared, and about to be pruned
			if err := defaulting.PruneDefaults(tree); err != nil {
				return nil, fmt.Errorf("the defaults of %s %s cannot be pruned: %w", full.Name, v.Name, err)
			}
		}
		s.tree = tree
		if !full.Spec.PreserveUnknownFields && !purego.Enabled {
			s.plan = compileStructure(tree)
		}
	}
	return all, nil
}

func (k *Kind) structure(version string) (*structure, error) {
	all, err := k.schemas()
	if err != nil {
		return nil, err
	}
	if s := all[version]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%s has no version %q", k.Name(), version)
}
