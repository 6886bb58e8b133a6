package validatingadmissionpolicystatus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/client"
)

// documents are the server's OpenAPI v3 documents, each read once.
type documents struct {
	client *client.Client
	known  map[schema.GroupVersion]map[string]*spec.Schema // by the name of the schema
}

// schema returns a kind's schema with all references inlined; nil if the server does not describe the kind.
func (d *documents) schema(ctx context.Context, kind schema.GroupVersionKind) (*spec.Schema, error) {
	all, err := d.document(ctx, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	for name, s := range all {
		var kinds []schema.GroupVersionKind
		if err := s.Extensions.GetObject("x-kubernetes-group-version-kind", &kinds); err != nil {
			return nil, fmt.Errorf("OpenAPI of %v: %w", kind.GroupVersion(), err)
		}
		if slices.Contains(kinds, kind) {
			return filled(all, s, []string{name}), nil
		}
	}
	return nil, nil
}

func (d *documents) document(ctx context.Context, gv schema.GroupVersion) (map[string]*spec.Schema, error) {
	if all, ok := d.known[gv]; ok {
		return all, nil
	}
	path := "/openapi/v3/apis/" + gv.String()
	if gv.Group == "" {
		path = "/openapi/v3/api/" + gv.Version
	}
	var doc struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	res, err := d.client.REST().Do(ctx, client.Request{Path: path, Accept: client.ContentTypeJSON})
	switch {
	case apierrors.IsNotFound(err): // no such version
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(res.Body, &doc); err != nil {
			return nil, fmt.Errorf("OpenAPI of %v: %w", gv, err)
		}
	}
	if d.known == nil {
		d.known = map[schema.GroupVersion]map[string]*spec.Schema{}
	}
	d.known[gv] = doc.Components.Schemas
	return doc.Components.Schemas, nil
}

// filled returns a copy of a schema with inlined references. A recursive reference becomes any object, because
// types must be finite.
func filled(all map[string]*spec.Schema, s *spec.Schema, within []string) *spec.Schema {
	if name, ok := reference(s); ok {
		to := all[name]
		if to == nil || slices.Contains(within, name) {
			return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
		}
		return filled(all, to, append(slices.Clip(within), name))
	}
	out := *s
	if s.Properties != nil {
		out.Properties = make(map[string]spec.Schema, len(s.Properties))
		for name, p := range s.Properties {
			out.Properties[name] = *filled(all, &p, within)
		}
	}
	if s.Items != nil && s.Items.Schema != nil {
		out.Items = &spec.SchemaOrArray{Schema: filled(all, s.Items.Schema, within)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: s.AdditionalProperties.Allows, Schema: filled(all, s.AdditionalProperties.Schema, within)}
	}
	return &out
}

// reference returns the name of the schema that s refers to. A reference with a description or a default of its own
// is an allOf of a single reference.
func reference(s *spec.Schema) (string, bool) {
	ref := s.Ref.String()
	if ref == "" && len(s.AllOf) == 1 {
		ref = s.AllOf[0].Ref.String()
	}
	return strings.CutPrefix(ref, "#/components/schemas/")
}
