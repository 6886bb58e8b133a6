package admission_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
)

// world is a Lookup of the objects set by tests, by resource.
type world map[string][]metav1.Object

func (w world) Get(_ context.Context, gr schema.GroupResource, namespace, name string) (runtime.Object, error) {
	for _, o := range w[gr.Resource] {
		if o.GetNamespace() == namespace && o.GetName() == name {
			return o.(runtime.Object), nil
		}
	}
	return nil, apierrors.NewNotFound(gr, name)
}

func (w world) List(_ context.Context, gr schema.GroupResource, namespace string) (list []runtime.Object, err error) {
	for _, o := range w[gr.Resource] {
		if namespace == "" || o.GetNamespace() == namespace {
			list = append(list, o.(runtime.Object))
		}
	}
	return list, nil
}

var rows = func() map[string]*resource.Resource {
	m := map[string]*resource.Resource{}
	for _, r := range builtin.Resources() {
		if m[r.Plural] == nil || r.Group == "" {
			m[r.Plural] = r
		}
	}
	return m
}()

func request(verb admission.Verb, plural, namespace, name string, obj, old runtime.Object) *admission.Request {
	return &admission.Request{
		Resource: rows[plural], Version: "v1", Namespace: namespace, Name: name, Verb: verb,
		Object: obj, Old: old, User: &auth.User{Name: "ann", Groups: []string{auth.AllAuthenticated}},
	}
}

func newWorld() world {
	return world{
		"namespaces": {
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}},
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "going"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}},
		},
		"serviceaccounts": {
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "default"}},
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "quiet"}, AutomountServiceAccountToken: new(bool),
				ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}}},
		},
	}
}

func admit(t *testing.T, p admission.Plugin, r *admission.Request) *apierrors.StatusError {
	t.Helper()
	err := (admission.Chain{p}).All(context.Background(), r)
	if err == nil {
		return nil
	}
	s, ok := err.(*apierrors.StatusError)
	if !ok {
		t.Fatalf("%s fails with a %T: %v", p.Name(), err, err)
	}
	return s
}
