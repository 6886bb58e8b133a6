package serviceaccount

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

const name = "default"

type accounts struct {
	api        client.Resource[*corev1.ServiceAccount]
	accounts   *informer.Informer[*corev1.ServiceAccount]
	namespaces *informer.Informer[*corev1.Namespace]
}

// New returns the ServiceAccount controller.
func New(env controller.Env) controller.Runner {
	a := &accounts{
		api:        client.For[*corev1.ServiceAccount](env.Client),
		accounts:   informer.For[*corev1.ServiceAccount](env.Informers),
		namespaces: informer.For[*corev1.Namespace](env.Informers),
	}
	loop := controller.New("serviceaccount", a.reconcile, controller.Options{})
	controller.Watch(loop, a.namespaces, controller.Self[*corev1.Namespace])
	controller.Watch(loop, a.accounts, func(sa *corev1.ServiceAccount) []controller.Key {
		if sa.Name != name {
			return nil
		}
		return []controller.Key{{Name: sa.Namespace}}
	})
	return loop
}

// reconcile works on the namespace that the key names.
func (a *accounts) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	ns, ok := a.namespaces.Store().Get("", k.Name)
	if !ok || ns.Status.Phase != corev1.NamespaceActive {
		return controller.Result{}, nil
	}
	if _, ok := a.accounts.Store().Get(k.Name, name); ok {
		return controller.Result{}, nil
	}
	_, err := a.api.Namespace(k.Name).Create(ctx, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: k.Name},
	})
	if apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return controller.Result{}, nil
	}
	return controller.Result{}, err
}
