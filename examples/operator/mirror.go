package main

import (
	"context"
	"maps"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// mirror keeps a Secret equal to each ConfigMap that asks for it. It reads its informers'
// stores and writes through its client, both with the API's own types and without generated
// code.
type mirror struct {
	secrets client.Resource[*corev1.Secret]
	sources *informer.Store[*corev1.ConfigMap]
	copies  *informer.Store[*corev1.Secret]
}

// newMirror returns the operator, ready to run: one of its replicas works at a time.
func newMirror(config *rest.Config) (*controller.Manager, error) {
	m, err := controller.NewManager(config, "mirror", controller.ManagerOptions{
		Lease: leader.Candidate{Namespace: "default", Name: "mirror"},
	})
	if err != nil {
		return nil, err
	}
	sources, copies := informer.For[*corev1.ConfigMap](m.Informers), informer.For[*corev1.Secret](m.Informers)
	x := &mirror{secrets: client.For[*corev1.Secret](m.Client), sources: sources.Store(), copies: copies.Store()}
	loop := m.New("mirror", x.reconcile, controller.Options{})
	controller.Watch(loop, sources, controller.Self)
	controller.Watch(loop, copies, controller.ControllerOf[*corev1.Secret]("ConfigMap"))
	return m, nil
}

// reconcile makes the Secret of one ConfigMap. After an error, such as a conflict with
// another writer, the key comes back a little later.
func (m *mirror) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	source, ok := m.sources.Get(k.Namespace, k.Name)
	if !ok || source.Labels["mirror"] != "secret" || source.DeletionTimestamp != nil {
		return controller.Result{}, nil
	}
	data := map[string][]byte{}
	for key, text := range source.Data {
		data[key] = []byte(text)
	}
	there, ok := m.copies.Get(k.Namespace, k.Name)
	if !ok {
		secret := &corev1.Secret{Data: data}
		secret.Name = source.Name
		secret.OwnerReferences = []metav1.OwnerReference{
			*metav1.NewControllerRef(source, corev1.SchemeGroupVersion.WithKind("ConfigMap")),
		}
		_, err := m.secrets.Namespace(k.Namespace).Create(ctx, secret)
		return controller.Result{}, err
	}
	if !metav1.IsControlledBy(there, source) || maps.EqualFunc(there.Data, data, equalBytes) {
		return controller.Result{}, nil // another owner's, or correct already
	}
	changed := there.DeepCopy() // objects in a store are shared
	changed.Data = data
	_, err := m.secrets.Namespace(k.Namespace).Update(ctx, changed)
	return controller.Result{}, err
}

func equalBytes(a, b []byte) bool { return string(a) == string(b) }
