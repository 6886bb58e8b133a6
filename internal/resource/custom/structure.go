package custom

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

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

// schemas are the schemas of a definition's versions. They are decoded when an object needs them, and are kept then.
type schemas struct {
	all    func() (map[string]*structure, error)
	needed atomic.Bool
}

func newSchemas(k *Kind) *schemas {
	s := &schemas{}
	s.all = sync.OnceValues(func() (map[string]*structure, error) {
		s.needed.Store(true)
		return k.readSchemas()
	})
	return s
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
		s, err := k.readSchema(v.Name, v.Schema)
		if err != nil {
			return nil, err
		}
		if s.tree != nil && !full.Spec.PreserveUnknownFields && !purego.Enabled {
			s.plan = compileStructure(s.tree)
		}
		all[v.Name] = s
	}
	return all, nil
}

// readSchema converts a version's schema, which may be nil. The result shares no memory with it that is modified.
func (k *Kind) readSchema(version string, schema *apiextensionsv1.CustomResourceValidation) (*structure, error) {
	s, preserves := &structure{}, k.Definition.Spec.PreserveUnknownFields
	if schema == nil || schema.OpenAPIV3Schema == nil {
		return s, nil
	}
	var in apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(schema, &in, nil); err != nil {
		return nil, err
	}
	s.props = in.OpenAPIV3Schema
	tree, err := structural.NewStructural(s.props)
	switch {
	case err != nil && preserves:
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("the schema of %s %s is not structural: %w", k.Name(), version, err)
	}
	if !preserves {
		tree = tree.DeepCopy() // defaults are shared, and about to be pruned
		if err := defaulting.PruneDefaults(tree); err != nil {
			return nil, fmt.Errorf("the defaults of %s %s cannot be pruned: %w", k.Name(), version, err)
		}
	}
	s.tree = tree
	return s, nil
}

// described returns the version's structural schema, or nil, as a copy for a document. As long as no object has needed the schemas,
// it decodes this one and keeps nothing: a document describes all kinds, of which most have no objects.
func (k *Kind) described(version string) (*structural.Structural, error) {
	if k.schemas.needed.Load() {
		tree, err := k.structural(version)
		return tree.DeepCopy(), err
	}
	var text struct {
		Spec struct {
			Versions []struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(*k.text.Load(), &text); err != nil {
		return nil, err
	}
	for _, v := range text.Spec.Versions {
		if v.Name != version || v.Schema == nil {
			continue
		}
		schema := &apiextensionsv1.CustomResourceValidation{}
		if err := json.Unmarshal(v.Schema, schema); err != nil {
			return nil, err
		}
		s, err := k.readSchema(version, schema)
		if err != nil {
			return nil, err
		}
		return s.tree, nil
	}
	return nil, nil
}

func (k *Kind) structure(version string) (*structure, error) {
	all, err := k.schemas.all()
	if err != nil {
		return nil, err
	}
	if s := all[version]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%s has no version %q", k.Name(), version)
}
