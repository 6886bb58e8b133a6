package serviceaccount

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
)

const name = "default"

type accounts struct {
	accounts controller.Objects[*corev1.ServiceAccount]
}

// New returns the ServiceAccount controller.
func New(env controller.Env) controller.Runner {
	a := &accounts{controller.ObjectsOf[*corev1.ServiceAccount](env)}
	namespaces := controller.ObjectsOf[*corev1.Namespace](env)
	return controller.New("serviceaccount", controller.ByObject(namespaces, a.reconcile), controller.Options{}).Watch(
		controller.For(namespaces),
		controller.Watches(a.accounts, namespaceOf),
	)
}

// namespaceOf returns the namespace of a default account.
func namespaceOf(sa *corev1.ServiceAccount) []controller.Key {
	if sa.Name != name {
		return nil
	}
	return []controller.Key{{Name: sa.Namespace}}
}

func (a *accounts) reconcile(ctx context.Context, ns *corev1.Namespace) (controller.Result, error) {
	if ns.Status.Phase != corev1.NamespaceActive {
		return controller.Result{}, nil
	}
	if _, ok := a.accounts.Store().Get(ns.Name, name); ok {
		return controller.Result{}, nil
	}
	_, err := a.accounts.API.Namespace(ns.Name).Create(ctx, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns.Name},
	})
	if apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return controller.Result{}, nil
	}
	return controller.Result{}, err
}
