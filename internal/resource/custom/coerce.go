package custom

import (
	"context"
	"fmt"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// coerceOptions selects how an object is coerced.
type coerceOptions struct {
	paths  bool // report dropped fields
	stored bool // drop malformed metadata too, and initialize the generation
}

// coerce treats a custom object as decoding into a Go type treats others: it prunes unknown fields and
// decodes the metadata.
func (k *Kind) coerce(u *unstructured.Unstructured, c coerceOptions) (dropped []string, err error) {
	if k.isCoerced(u, c) {
		return nil, nil
	}
	kind, hasKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, hasVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return nil, err
	}
	meta, hasMeta, dropped, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: c.stored, ReturnUnknownFieldPaths: c.paths,
	})
	if err != nil {
		return nil, err
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	d := k.Definition
	if gv.Group == d.Spec.Group && kind == d.Spec.Names.Kind {
		tree, err := k.structural(gv.Version)
		if err != nil {
			return nil, err
		}
		if !d.Spec.PreserveUnknownFields {
			o := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: c.paths}
			dropped = append(dropped, pruning.PruneWithOptions(u.Object, tree, true, o)...)
			defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, tree)
		}
		fault, more := objectmeta.CoerceWithOptions(nil, u.Object, tree, false, objectmeta.CoerceOptions{
			DropInvalidFields: c.stored, ReturnUnknownFieldPaths: c.paths,
		})
		if fault != nil {
			return nil, fault
		}
		dropped = append(dropped, more...)
		if c.stored && meta.Generation == 0 {
			meta.Generation = 1
		}
	}
	if hasKind {
		u.SetKind(kind)
	}
	if hasVersion {
		u.SetAPIVersion(apiVersion)
	}
	if hasMeta {
		if err := objectmeta.SetObjectMeta(u.Object, meta); err != nil {
			return nil, err
		}
	}
	return dropped, nil
}

// isCoerced reports whether an object is of the kind and known to be unchanged by coercion, as nearly all are.
func (k *Kind) isCoerced(u *unstructured.Unstructured, c coerceOptions) bool {
	kind, _ := u.Object["kind"].(string)
	apiVersion, _ := u.Object["apiVersion"].(string)
	group, version, _ := strings.Cut(apiVersion, "/")
	d := k.Definition
	if kind != d.Spec.Names.Kind || group != d.Spec.Group {
		return false
	}
	if meta, ok := u.Object["metadata"].(map[string]any); c.stored && (!ok || meta["generation"] == nil) {
		return false
	}
	all, err := k.schemas.all()
	return err == nil && all[version] != nil && all[version].plan != nil && all[version].plan.isRootCoerced(u.Object)
}

// structural returns the version's structural schema, or nil.
func (k *Kind) structural(version string) (*structural.Structural, error) {
	all, err := k.schemas.all()
	if err != nil || all[version] == nil {
		return nil, err
	}
	return all[version].tree, nil
}

// setDefaults sets the defaults of the object's own version.
func (k *Kind) setDefaults(u *unstructured.Unstructured) {
	d, gvk := k.Definition, u.GroupVersionKind()
	if gvk.Group != d.Spec.Group || gvk.Kind != d.Spec.Names.Kind {
		return
	}
	all, err := k.schemas.all()
	if err != nil || all[gvk.Version] == nil {
		return
	}
	switch s := all[gvk.Version]; {
	case s.plan != nil:
		s.plan.setDefaults(u.Object)
	case s.tree != nil:
		defaulting.Default(u.Object, s.tree)
	}
}

// read converts objects as they were stored to the version.
func (k *Kind) read(ctx context.Context, stored []*unstructured.Unstructured, version string) ([]*unstructured.Unstructured, error) {
	for _, u := range stored {
		if _, err := k.coerce(u, coerceOptions{stored: true}); err != nil {
			return nil, fmt.Errorf("stored %s cannot be read: %w", k.GroupResource(), err)
		}
		k.setDefaults(u)
	}
	return k.convertAllTo(ctx, stored, version)
}

// convertTo converts an object. It does not modify its argument.
func (k *Kind) convertTo(ctx context.Context, u *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
	all, err := k.convertAllTo(ctx, []*unstructured.Unstructured{u}, version)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// convertAllTo converts the objects of other versions in one call. It does not modify its argument.
func (k *Kind) convertAllTo(ctx context.Context, all []*unstructured.Unstructured, version string) ([]*unstructured.Unstructured, error) {
	to := schema.GroupVersion{Group: k.Definition.Spec.Group, Version: version}
	out := slices.Clone(all)
	var at []int
	var others []*unstructured.Unstructured
	for i, u := range all {
		from := u.GroupVersionKind()
		if from.GroupVersion() == to {
			continue
		}
		if k.versions[version] == nil {
			return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", to)
		}
		if k.versions[from.Version] == nil || from.Group != to.Group {
			return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", from.GroupVersion())
		}
		at, others = append(at, i), append(others, u)
	}
	if len(others) == 0 {
		return out, nil
	}
	converted, err := k.convert.Convert(ctx, others, to)
	if err != nil {
		return nil, err
	}
	for i, u := range converted {
		if _, err := k.coerce(u, coerceOptions{}); err != nil {
			return nil, err
		}
		out[at[i]] = u
	}
	return out, nil
}
