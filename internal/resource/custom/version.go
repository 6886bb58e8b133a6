package custom

import (
	"context"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/internal/purego"
	"fairlead.dev/internal/resource"
)

// version is one version of a kind. It implements resource.Custom for its row.
type version struct {
	*apiextensionsv1.CustomResourceDefinitionVersion
	kind  *Kind
	rules func() (*rules, error)
	table func() resource.Table
}

var _ resource.Custom = (*version)(nil)

// rules are the version's compiled schema.
type rules struct {
	tree   *structural.Structural
	plan   *compiledStructure
	schema *values
	status *values        // nil if the schema does not have it
	cel    *cel.Validator // nil without rules
}

func newVersion(k *Kind, d *apiextensionsv1.CustomResourceDefinitionVersion) *version {
	v := &version{CustomResourceDefinitionVersion: d, kind: k}
	v.rules, v.table = sync.OnceValues(v.compile), sync.OnceValue(func() resource.Table { return newTable(d) })
	return v
}

func (v *version) compile() (*rules, error) {
	s, err := v.kind.structure(v.Name)
	if err != nil {
		return nil, err
	}
	r := &rules{tree: s.tree, plan: s.plan}
	if r.schema, err = newValues(s.props); err != nil {
		return nil, err
	}
	if s.props != nil && v.hasStatus() {
		if status, ok := s.props.Properties["status"]; ok {
			if r.status, err = newValues(&status); err != nil {
				return nil, err
			}
		}
	}
	r.cel = cel.NewValidator(s.tree, true, celconfig.PerCallLimit)
	return r, nil
}

// values are a schema's types and bounds. The validator is asked about values that the check does not accept.
type values struct {
	validation.SchemaValidator
	check *compiledSchema
}

func newValues(props *apiextensions.JSONSchemaProps) (*values, error) {
	v, s, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	if purego.Enabled {
		return &values{v, &compiledSchema{odd: true}}, nil
	}
	return &values{v, compileSchema(s)}, nil
}

func (v *version) hasStatus() bool { return v.Subresources != nil && v.Subresources.Status != nil }

func (v *version) scale() *apiextensionsv1.CustomResourceSubresourceScale {
	if v.Subresources == nil {
		return nil
	}
	return v.Subresources.Scale
}

// Tag implements resource.Custom.
func (v *version) Tag() string { return v.kind.tag }

// Forms implements resource.Custom.
func (v *version) Forms() string { return v.kind.forms }

// DefinitionRevision implements resource.Custom.
func (v *version) DefinitionRevision() int64 { return v.kind.since }

// Definition implements resource.Custom.
func (v *version) Definition() (string, int64) { return v.kind.key, v.kind.at.Load() }

// Coerce implements resource.Custom.
func (v *version) Coerce(obj *unstructured.Unstructured, paths bool) ([]string, error) {
	return v.kind.coerce(obj, coerceOptions{paths: paths})
}

// IsCoerced implements resource.Custom.
func (v *version) IsCoerced(obj *unstructured.Unstructured) bool {
	return v.kind.isCoerced(obj, coerceOptions{})
}

// Read implements resource.Custom.
func (v *version) Read(ctx context.Context, stored *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	all, err := v.ReadAll(ctx, []*unstructured.Unstructured{stored})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// ReadAll implements resource.Custom.
func (v *version) ReadAll(ctx context.Context, stored []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	return v.kind.read(ctx, stored, v.Name)
}

// NeedsWebhook implements resource.Custom.
func (v *version) NeedsWebhook() bool { return v.kind.convert != Converter(rename{}) }

// ConvertTo implements resource.Custom.
func (v *version) ConvertTo(ctx context.Context, obj *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	return v.kind.convertTo(ctx, obj, to)
}

// Store implements resource.Custom.
func (v *version) Store(ctx context.Context, obj *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	out, err := v.kind.convertTo(ctx, obj, to)
	if err == nil {
		v.kind.setDefaults(out)
	}
	return out, err
}

// Schema implements resource.Custom.
func (v *version) Schema(name string) *spec.Schema {
	tree, err := v.kind.described(name)
	if err != nil || tree == nil {
		return nil
	}
	return tree.Unfold().ToKubeOpenAPI()
}

// VersionNames implements resource.Custom.
func (v *version) VersionNames() (names []string) {
	for _, other := range v.kind.Definition.Spec.Versions {
		names = append(names, other.Name)
	}
	return names
}

// PreservesUnknownFields implements resource.Custom.
func (v *version) PreservesUnknownFields() bool { return v.kind.Definition.Spec.PreserveUnknownFields }
