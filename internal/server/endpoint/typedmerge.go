package endpoint

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/serializer"
)

func (k typedKind) DecodeMerged(m *MergedText) (resource.Object, bool) {
	if m.Old == nil {
		into := k.ep.ServedVersion.New()
		if !codec.UnmarshalMembers(m.Text, into) {
			return nil, false
		}
		obj, err := k.ep.toStorage(into)
		if err != nil {
			return nil, false
		}
		obj.GetObjectKind().SetGroupVersionKind(k.ep.Hub())
		obj.SetManagedFields(m.Entries)
		return obj, true
	}
	o, changed, ok := unpatched(m.Old, m.Before, m.Text)
	if !ok || len(changed) > len("{}") && !codec.UnmarshalMembers(changed, o) {
		return nil, false
	}
	obj := o.(resource.Object)
	obj.GetObjectKind().SetGroupVersionKind(k.ep.Hub())
	if obj.GetResourceVersion() == "" {
		obj.SetResourceVersion(m.Old.GetResourceVersion())
	}
	obj.SetManagedFields(m.Entries)
	return obj, true
}

func (k typedKind) Texts(_ context.Context, apiVersion string, obj, old resource.Object) (before, after []byte, s *openapi.Shape, ok bool) {
	var v *resource.Version
	if k.ep.StorageGVK().GroupVersion().String() == apiVersion {
		v = &resource.Version{New: func() runtime.Object { o, _ := k.NewObject(); return o }}
	} else {
		for i := range k.ep.Versions {
			if k.ep.Resource.GVK(k.ep.Versions[i].Name).GroupVersion().String() == apiVersion {
				v = &k.ep.Versions[i]
			}
		}
	}
	if v == nil {
		return nil, nil, nil, false
	}
	empty := v.New()
	after, err := textIn(v, obj)
	if err == nil && old == nil {
		before, err = serializer.Marshal(empty, serializer.JSON)
	} else if err == nil {
		before, err = textIn(v, old)
	}
	return before, after, shapeOf(empty), err == nil
}

func shapeOf(obj runtime.Object) *openapi.Shape {
	return openapi.ShapeOf(reflect.TypeOf(obj).Elem())
}

func (k typedKind) TypeConverter() (managedfields.TypeConverter, error) {
	models, err := openapi.Models([]*resource.Resource{k.ep.Resource}, resource.Scheme())
	if err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(models, false)
}

func (k typedKind) NewFieldManager(types managedfields.TypeConverter, conv Converter, subresource string) (*managedfields.FieldManager, error) {
	names := make([]string, 0, len(k.ep.Versions))
	for _, v := range k.ep.Versions {
		names = append(names, v.Name)
	}
	return managedfields.NewDefaultFieldManager(types, conv, conv, conv, k.ep.ServedGVK, k.ep.Hub().GroupVersion(), subresource, k.ep.resetFilters(subresource, names))
}

// newVersion asks the scheme for objects of other kinds.
func (k typedKind) newVersion(gvk schema.GroupVersionKind) (runtime.Object, error) {
	v := k.ep.Version(gvk.Version)
	if gvk.Kind != k.ep.Kind || gvk.Group != k.ep.Group || v == nil {
		return resource.Scheme().New(gvk)
	}
	obj := v.New()
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}

// Convert goes by the storage version.
func (k typedKind) convertVersion(_ context.Context, in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	if u, ok := in.(*unstructured.Unstructured); ok {
		typed, err := k.newVersion(from)
		if err != nil {
			return nil, err
		}
		if _, ok := typed.(*unstructured.Unstructured); !ok {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
				return nil, err
			}
			in = typed
		}
	}
	gv, ok := target.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("%v is not one version", target)
	}
	to := gv.WithKind(k.ep.Kind)
	if from == to {
		return in, nil
	}
	stored := k.ep.StorageGVK()
	if from != stored {
		v := k.ep.versionOf(from)
		if v == nil || v.ToStorage == nil {
			return nil, runtime.NewNotRegisteredErrForKind("fairlead", from)
		}
		out, err := v.ToStorage(in)
		if err != nil {
			return nil, err
		}
		in = out
	}
	if to != stored {
		v := k.ep.versionOf(to)
		if v == nil || v.FromStorage == nil {
			return nil, runtime.NewNotRegisteredErrForKind("fairlead", to)
		}
		out, err := v.FromStorage(in)
		if err != nil {
			return nil, err
		}
		in = out
	}
	in.GetObjectKind().SetGroupVersionKind(to)
	return in, nil
}

func (typedKind) ToMerge(obj resource.Object) runtime.Object { return obj }

func (typedKind) FromMerge(obj runtime.Object) (resource.Object, error) { return AsObject(obj) }
