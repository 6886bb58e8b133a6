package server

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/openapi"
)

// customTextsIn is textsIn for a custom kind.
func (c *call) customTextsIn(apiVersion string, obj, old resource.Object) (before, after []byte, s *openapi.Shape, ok bool) {
	version, ok := strings.CutPrefix(apiVersion, c.ep.Group+"/")
	if !ok {
		return nil, nil, nil, false
	}
	text := func(o resource.Object) ([]byte, error) {
		u, err := c.ep.Custom.In(c.ctx, &o.(*resource.Untyped).Unstructured, version)
		if err != nil {
			return nil, err
		}
		return marshalUntyped(u)
	}
	var err error
	if after, err = text(obj); err != nil {
		return nil, nil, nil, false
	}
	if old == nil {
		before = []byte("{}")
	} else if before, err = text(old); err != nil {
		return nil, nil, nil, false
	}
	return before, after, openapi.CustomShape(c.ep.Custom.Schema(version), c.ep.Custom.KeepsUnknown()), true
}

// customTypes are the types of a custom kind in all its versions, as
// configurations are merged by them.
func customTypes(r *resource.Resource) (managedfields.TypeConverter, error) {
	models, err := openapi.CustomModels(r)
	if err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(models, r.Custom.KeepsUnknown())
}

// convertCustom takes a custom object from version to version.
func (c converter) convertCustom(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gv, ok := target.(schema.GroupVersion)
	u, isCustom := in.(*unstructured.Unstructured)
	if !ok || !isCustom {
		return nil, fmt.Errorf("%T cannot be converted to %v", in, target)
	}
	if gv.Group != c.ep.Group {
		return nil, runtime.NewNotRegisteredErrForKind("fairlead", gv.WithKind(c.ep.Kind))
	}
	known := false
	for _, name := range c.ep.Custom.Known() {
		known = known || name == gv.Version
	}
	if !known {
		return nil, runtime.NewNotRegisteredErrForKind("fairlead", gv.WithKind(c.ep.Kind))
	}
	return c.ep.Custom.In(c.ctx, u, gv.Version)
}
