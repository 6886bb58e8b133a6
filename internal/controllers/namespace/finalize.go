package namespace

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
)

// markTerminating sets the phase Terminating.
func (n *namespaces) markTerminating(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
	if ns.Status.Phase == corev1.NamespaceTerminating {
		return ns, nil
	}
	ns = ns.DeepCopy()
	ns.Status.Phase = corev1.NamespaceTerminating
	return n.all.API.UpdateStatus(ctx, ns)
}

// report writes the result of a sweep to the status, if it has changed. A namespace about to be finalized needs no
// such write unless other finalizers hold it.
func (n *namespaces) report(ctx context.Context, ns *corev1.Namespace, found *remainder) error {
	if !found.remains() && found.err() == nil && len(ns.Finalizers) == 0 && len(ns.Spec.Finalizers) == 1 {
		return nil
	}
	ns = ns.DeepCopy()
	if !merge(&ns.Status, found.conditions()) {
		return nil
	}
	_, err := n.all.API.UpdateStatus(ctx, ns)
	return err
}

// finalize removes our finalizer; the server then deletes the namespace, unless
// others hold it.
func (n *namespaces) finalize(ctx context.Context, name string) error {
	return client.RetryOnConflict(ctx, func() error {
		ns, err := n.all.API.Get(ctx, name)
		if err != nil || ns.DeletionTimestamp == nil || finalized(ns) {
			return err
		}
		ns = ns.DeepCopy()
		ns.Spec.Finalizers = slices.DeleteFunc(ns.Spec.Finalizers, func(f corev1.FinalizerName) bool {
			return f == corev1.FinalizerKubernetes
		})
		ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		body, err := json.Marshal(ns)
		if err != nil {
			return err
		}
		_, err = n.env.Client.REST().Do(ctx, client.Request{
			Method: http.MethodPut,
			Path:   "/api/v1/namespaces/" + name + "/finalize",
			Body:   body,
		})
		return err
	})
}
