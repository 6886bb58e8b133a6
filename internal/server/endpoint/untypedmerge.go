package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/serializer"
)

// DecodeMerged declines a text with fields that have no place in the schema.
func (k untypedKind) DecodeMerged(m *MergedText) (resource.Object, bool) {
	u := k.decodePlain(m.Text, serializer.JSON)
	if u == nil {
		return nil, false
	}
	u.SetManagedFields(m.Entries)
	if m.Old != nil && u.GetResourceVersion() == "" {
		u.SetResourceVersion(m.Old.GetResourceVersion())
	}
	return u, true
}

func (k untypedKind) Texts(ctx context.Context, apiVersion string, obj, old resource.Object) (before, after []byte, s *openapi.Shape, ok bool) {
	version, ok := strings.CutPrefix(apiVersion, k.ep.Group+"/")
	if !ok {
		return nil, nil, nil, false
	}
	text := func(o resource.Object) ([]byte, error) {
		u, err := k.custom.ConvertTo(ctx, &o.(*resource.Untyped).Unstructured, version)
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
	return before, after, openapi.CustomShape(k.custom.Schema(version), k.custom.PreservesUnknownFields()), true
}

// TypeConverter has the schemas of all versions.
func (k untypedKind) TypeConverter() (managedfields.TypeConverter, error) {
	models, err := openapi.CustomModels(k.ep.Resource)
	if err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(models, k.custom.PreservesUnknownFields())
}

func (k untypedKind) NewFieldManager(types managedfields.TypeConverter, conv Converter, subresource string) (*managedfields.FieldManager, error) {
	filters := k.ep.resetFilters(subresource, []string{k.ep.ServedVersion.Name})
	return managedfields.NewDefaultCRDFieldManager(types, conv, conv, conv, k.ep.ServedGVK, k.ep.Hub().GroupVersion(), subresource, filters)
}

func (untypedKind) newVersion(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func (k untypedKind) convertVersion(ctx context.Context, in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gv, ok := target.(schema.GroupVersion)
	u, isUntyped := in.(*unstructured.Unstructured)
	if !ok || !isUntyped {
		return nil, fmt.Errorf("%T cannot be converted to %v", in, target)
	}
	if gv.Group != k.ep.Group || !slices.Contains(k.custom.VersionNames(), gv.Version) {
		// This error isn't that of a missing version, for which an apply would drop the manager's entry. kube-apiserver
		// refuses to apply until the entries of versions that the definition no longer has are removed.
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", gv)
	}
	return k.custom.ConvertTo(ctx, u, gv.Version)
}

func (untypedKind) ToMerge(obj resource.Object) runtime.Object {
	if u, ok := obj.(*resource.Untyped); ok {
		return u.WithManagedFields()
	}
	return obj
}

func (untypedKind) FromMerge(obj runtime.Object) (resource.Object, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return resource.NewUntyped(u), nil
	}
	return AsObject(obj)
}
