package custom

import (
	"fmt"
	"math"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
)

// splitPath splits a path like ".spec.replicas".
func splitPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

func scaleAccess(s *apiextensionsv1.CustomResourceSubresourceScale) *resource.ScaleAccess {
	desired, observed := splitPath(s.SpecReplicasPath), splitPath(s.StatusReplicasPath)
	number := func(obj runtime.Object, path []string) (int64, bool, error) {
		return unstructured.NestedInt64(obj.(*resource.Untyped).Object, path...)
	}
	return &resource.ScaleAccess{
		Path: desired,
		Check: func(obj runtime.Object) error {
			_, found, err := number(obj, desired)
			if err == nil && !found {
				err = apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", s.SpecReplicasPath))
			}
			return err
		},
		Replicas: func(obj runtime.Object) int32 {
			n, found, _ := number(obj, desired)
			if !found {
				return math.MinInt32
			}
			return int32(n)
		},
		StatusReplicas: func(obj runtime.Object) int32 {
			n, _, _ := number(obj, observed)
			return int32(n)
		},
		SetReplicas: func(obj runtime.Object, n int32) {
			// A parent that is not an object is rejected by the schema.
			_ = unstructured.SetNestedField(obj.(*resource.Untyped).Object, int64(n), desired...)
		},
		Selector: func(obj runtime.Object) (string, error) {
			if s.LabelSelectorPath == nil || *s.LabelSelectorPath == "" {
				return "", nil
			}
			text, _, err := unstructured.NestedString(obj.(*resource.Untyped).Object, splitPath(*s.LabelSelectorPath)...)
			return text, err
		},
	}
}

// validateScale validates the fields of the scale subresource in an object.
func (v *version) validateScale(obj *unstructured.Unstructured, desired bool) (errs field.ErrorList) {
	s := v.scale()
	if s == nil {
		return nil
	}
	count := func(path string) {
		n, _, err := unstructured.NestedInt64(obj.Object, splitPath(path)...)
		at := field.NewPath(path)
		switch {
		case err != nil:
			errs = append(errs, field.Invalid(at, n, err.Error()))
		case n < 0:
			errs = append(errs, field.Invalid(at, n, "should be a non-negative integer"))
		case n > math.MaxInt32:
			errs = append(errs, field.Invalid(at, n, fmt.Sprintf("should be less than or equal to %d", math.MaxInt32)))
		}
	}
	if desired {
		count(s.SpecReplicasPath)
	}
	count(s.StatusReplicasPath)
	if s.LabelSelectorPath != nil {
		text, _, err := unstructured.NestedString(obj.Object, splitPath(*s.LabelSelectorPath)...)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*s.LabelSelectorPath), text, err.Error()))
		}
	}
	return errs
}
