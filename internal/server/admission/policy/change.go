package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission/dynamic"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/patch"
)

// patched returns the view's object after a JSON patch; nil if a test operation fails, which is not an error.
func patched(ctx context.Context, v *dynamic.View, text []byte) (runtime.Object, error) {
	ops, err := patch.ParseOperations(text)
	if err != nil {
		return nil, fmt.Errorf("JSON Patch: %w", err)
	}
	if text, err = v.Text(); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	text, err = ops.Apply(ctx, text)
	if errors.Is(err, patch.ErrTestFailed) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("JSON Patch: %w", err)
	}
	obj := v.Empty()
	strict, err := kjson.UnmarshalStrict(text, obj)
	if err == nil && len(strict) > 0 {
		err = runtime.NewStrictDecodingError(strict)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj, nil
}

// converters caches, for each resource, the type converter for merging its lists and maps.
type converters struct {
	mu sync.Mutex
	of map[*resource.Resource]managedfields.TypeConverter
}

func newConverters() *converters {
	return &converters{of: map[*resource.Resource]managedfields.TypeConverter{}}
}

func (c *converters) get(row *resource.Resource, obj runtime.Object) (managedfields.TypeConverter, error) {
	if _, custom := obj.(*resource.Untyped); custom {
		return managedfields.NewDeducedTypeConverter(), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.of[row]; t != nil {
		return t, nil
	}
	models, err := openapi.Models([]*resource.Resource{row}, resource.Scheme())
	if err != nil {
		return nil, err
	}
	t, err := managedfields.NewTypeConverter(models, false)
	if err == nil {
		c.of[row] = t
	}
	return t, err
}

// apply merges a configuration into the view's object. It does not record a field owner.
func (c *converters) apply(v *dynamic.View, config map[string]any) (runtime.Object, error) {
	types, err := c.get(v.Target.Row, v.Object)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	patch := &unstructured.Unstructured{Object: config}
	patch.SetGroupVersionKind(v.Kind)
	wanted, err := types.ObjectToTyped(patch)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: failed to convert patch object to typed object: %w", err)
	}
	if whole := atomics(nil, wanted.Schema(), wanted.TypeRef(), wanted.AsValue()); len(whole) > 0 {
		return nil, fmt.Errorf("error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %v", strings.Join(whole, ", "))
	}
	now := v.Object
	if u, custom := now.(*resource.Untyped); custom {
		now = u.WithManagedFields()
	}
	live, err := types.ObjectToTyped(now, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: failed to convert original object to typed object: %w", err)
	}
	merged, err := live.Merge(wanted)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: failed to merge patch: %w", err)
	}
	text, err := json.Marshal(merged.AsValue().Unstructured())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	obj := v.Empty()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// atomics returns the paths of atomic lists and maps in a configuration. They would be replaced as a whole, so a
// configuration that sets one member would remove the others.
func atomics(at []fieldpath.PathElement, s *smd.Schema, tr smd.TypeRef, v value.Value) (list []string) {
	a, ok := s.Resolve(tr)
	if !ok {
		return nil
	}
	below := func(pe fieldpath.PathElement, tr smd.TypeRef, v value.Value) {
		list = append(list, atomics(append(at[:len(at):len(at)], pe), s, tr, v)...)
	}
	if v.IsMap() && a.Map != nil {
		if a.Map.ElementRelationship == smd.Atomic {
			list = append(list, fieldpath.Path(at).String())
		}
		v.AsMap().Iterate(func(key string, val value.Value) bool {
			if f, ok := a.Map.FindField(key); ok {
				below(fieldpath.PathElement{FieldName: &key}, f.Type, val)
			}
			return true
		})
	}
	if v.IsList() && a.List != nil {
		if a.List.ElementRelationship == smd.Atomic {
			list = append(list, fieldpath.Path(at).String())
		}
		for it := v.AsList().Range(); it.Next(); {
			i, item := it.Item()
			below(fieldpath.PathElement{Index: &i}, a.List.ElementType, item)
		}
	}
	return list
}
