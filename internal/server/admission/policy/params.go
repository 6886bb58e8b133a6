package policy

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// paramSource is the resource of a policy's parameters; zero if it takes no parameters.
type paramSource struct {
	row     *resource.Resource
	version *resource.Version
}

func (c *common) paramSource(kind *admissionv1.ParamKind) (paramSource, error) {
	if kind == nil {
		return paramSource{}, nil
	}
	gv, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		return paramSource{}, fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
	}
	for _, row := range c.rows() {
		if row.Kind == kind.Kind && row.Group == gv.Group && !row.Virtual {
			if v := row.Version(gv.Version); v != nil {
				return paramSource{row, v}, nil
			}
		}
	}
	return paramSource{}, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gv.WithKind(kind.Kind))
}

// params returns the parameters that a binding refers to, resolved in a namespace. A policy without parameters, or whose binding gives no parameters, has a single nil one.
func (c *common) params(ctx context.Context, s paramSource, ref *admissionv1.ParamRef, home string) ([]runtime.Object, error) {
	if s.row == nil || ref == nil {
		return []runtime.Object{nil}, nil
	}
	namespace := ""
	if s.row.Namespaced {
		if namespace = home; ref.Namespace != "" {
			namespace = ref.Namespace
		}
		if namespace == "" {
			return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
		}
	} else if ref.Namespace != "" {
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	}
	list, err := c.find(ctx, s, ref, namespace)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == admissionv1.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	for i := range list {
		if list[i], err = s.view(list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (c *common) find(ctx context.Context, s paramSource, ref *admissionv1.ParamRef, namespace string) ([]runtime.Object, error) {
	gr := s.row.GroupResource()
	if ref.Name != "" {
		obj, err := c.lookup.Get(ctx, gr, namespace, ref.Name)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return []runtime.Object{obj}, err
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	if err != nil {
		return nil, err
	}
	all, err := c.lookup.List(ctx, gr, namespace)
	if err != nil {
		return nil, err
	}
	var list []runtime.Object
	for _, obj := range all {
		if m, err := meta.Accessor(obj); err == nil && selector.Matches(labels.Set(m.GetLabels())) {
			list = append(list, obj)
		}
	}
	return list, nil
}

// view returns a parameter in the version that the policy names, with its kind set. The original, which is shared,
// is not modified.
func (s paramSource) view(obj runtime.Object) (runtime.Object, error) {
	obj = obj.DeepCopyObject()
	if f := s.version.FromStorage; f != nil {
		var err error
		if obj, err = f(obj); err != nil {
			return nil, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(s.row.GVK(s.version.Name))
	return obj, nil
}
