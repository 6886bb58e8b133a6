package dynamic

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/admission"
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

// Selectors restrict rules to namespaces and objects with certain labels.
type Selectors struct {
	namespace, object labels.Selector
	err               error // one of them is invalid
}

// NewSelectors parses two selectors, either of which may be nil.
func NewSelectors(namespace, object *metav1.LabelSelector) Selectors {
	read := func(s *metav1.LabelSelector) (labels.Selector, error) {
		if s == nil {
			return labels.Everything(), nil
		}
		return metav1.LabelSelectorAsSelector(s)
	}
	n, err1 := read(namespace)
	o, err2 := read(object)
	return Selectors{n, o, errors.Join(err1, err2)}
}

// Match reports whether the request is selected. An error matters only for requests that the rules match.
func (s Selectors) Match(ctx context.Context, r *admission.Request, l admission.Lookup) (bool, error) {
	if s.err != nil {
		return false, apierrors.NewInternalError(s.err)
	}
	in, err := s.inNamespace(ctx, r, l)
	if err == nil && !in {
		return false, nil
	}
	if !s.object.Empty() && !labelled(r.Object, s.object) && !labelled(r.Old, s.object) {
		return false, nil
	}
	return true, err
}

func (s Selectors) inNamespace(ctx context.Context, r *admission.Request, l admission.Lookup) (bool, error) {
	itself := r.GroupResource() == namespaces
	if s.namespace.Empty() || r.Home() == "" && !itself {
		return true, nil // cluster-scoped objects are never exempt
	}
	if itself && r.Subresource == "" && (r.Verb == admission.Create || r.Verb == admission.Update) {
		return labelled(r.Object, s.namespace), nil
	}
	ns, err := Namespace(ctx, l, r.Home())
	if err != nil {
		return false, err
	}
	return s.namespace.Matches(labels.Set(ns.Labels)), nil
}

// Namespace returns a namespace. Errors are status errors.
func Namespace(ctx context.Context, l admission.Lookup, name string) (*corev1.Namespace, error) {
	obj, err := l.Get(ctx, namespaces, "", name)
	if err != nil {
		var status *apierrors.StatusError
		if !errors.As(err, &status) {
			err = apierrors.NewInternalError(err)
		}
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}

func labelled(obj runtime.Object, s labels.Selector) bool {
	if obj == nil {
		return false
	}
	m, err := meta.Accessor(obj)
	return err == nil && s.Matches(labels.Set(m.GetLabels()))
}
