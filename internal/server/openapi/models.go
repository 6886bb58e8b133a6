package openapi

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/internal/resource"
)

// Models returns the v3 definitions of the resources and of everything they refer to, as structured-merge-diff's
// type converters take them (see apimachinery's managedfields.NewTypeConverter). Every call builds them again.
func Models(resources []*resource.Resource, scheme *runtime.Scheme) (map[string]*spec.Schema, error) {
	b := newBuilder(scheme)
	for _, r := range resources {
		for _, v := range r.Versions {
			b.add(r, v)
		}
	}
	return b.defs.specs()
}

// specs returns the definitions in v3 form.
func (d *definitions) specs() (map[string]*spec.Schema, error) {
	models := make(map[string]*spec.Schema, len(d.models))
	for name, m := range d.models {
		text, err := json.Marshal(m.write(true))
		if err != nil {
			return nil, err
		}
		s := &spec.Schema{}
		if err := json.Unmarshal(text, s); err != nil {
			return nil, err
		}
		models[name] = s
	}
	return models, nil
}
