package admission

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NamespaceLifecycle rejects creates in a namespace that is missing or terminating, and deletes of the namespaces
// that a cluster requires.
type NamespaceLifecycle struct{ Lookup Lookup }

// Name implements Plugin.
func (NamespaceLifecycle) Name() string { return "NamespaceLifecycle" }

var immortal = map[string]bool{"default": true, "kube-system": true, "kube-public": true}

// Admit implements Mutator.
func (p NamespaceLifecycle) Admit(ctx context.Context, r *Request) error {
	if r.GroupResource() == core("namespaces") {
		if r.Verb == Delete && r.Subresource == "" && immortal[r.Name] {
			return forbid(r, errors.New("this namespace may not be deleted"))
		}
		return nil
	}
	// A review of access in a namespace must not reveal whether the namespace exists.
	review := schema.GroupResource{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}
	if r.Namespace == "" || r.Verb != Create || r.GroupResource() == review {
		return nil
	}
	obj, err := p.Lookup.Get(ctx, core("namespaces"), "", r.Namespace)
	if err != nil {
		if apierrors.IsNotFound(err) {
			return apierrors.NewNotFound(core("namespaces"), r.Namespace)
		}
		return status(err)
	}
	ns := obj.(*corev1.Namespace)
	if ns.Status.Phase != corev1.NamespaceTerminating && ns.DeletionTimestamp == nil {
		return nil
	}
	refused := forbid(r, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", r.Namespace))
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", r.Namespace),
		Field:   "metadata.namespace",
	})
	return refused
}
