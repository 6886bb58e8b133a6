package main

import (
	"context"
	"maps"

	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// mirror keeps a Secret equal to each ConfigMap that asks for it. It reads from its informers'
// stores and writes through the API, both with the API's own types and without generated
// code.
type mirror struct {
	sources controller.Objects[*corev1.ConfigMap]
	secrets controller.Objects[*corev1.Secret]
}

// newMirror returns the operator, ready to run: one of its replicas works at a time.
func newMirror(config *rest.Config) (*controller.Manager, error) {
	m, err := controller.NewManager(config, "mirror", controller.ManagerOptions{
		Lease: leader.Candidate{Namespace: "default", Name: "mirror"},
	})
	if err != nil {
		return nil, err
	}
	x := &mirror{controller.ObjectsOf[*corev1.ConfigMap](m.Env), controller.ObjectsOf[*corev1.Secret](m.Env)}
	m.New("mirror", controller.ByObject(x.sources, x.reconcile), controller.Options{}).Watch(
		controller.For(x.sources),
		controller.Owns(x.secrets, "ConfigMap"),
	)
	return m, nil
}

// reconcile makes the Secret of one ConfigMap. After an error, such as a conflict with
// another writer, it is called again a little later.
func (m *mirror) reconcile(ctx context.Context, source *corev1.ConfigMap) (controller.Result, error) {
	if source.Labels["mirror"] != "secret" || source.DeletionTimestamp != nil {
		return controller.Result{}, nil
	}
	data := map[string][]byte{}
	for key, text := range source.Data {
		data[key] = []byte(text)
	}
	there, ok := m.secrets.Store().Get(source.Namespace, source.Name)
	if !ok {
		secret := &corev1.Secret{Data: data}
		secret.Name = source.Name
		secret.OwnerReferences = []metav1.OwnerReference{
			*metav1.NewControllerRef(source, corev1.SchemeGroupVersion.WithKind("ConfigMap")),
		}
		_, err := m.secrets.API.Namespace(source.Namespace).Create(ctx, secret)
		return controller.Result{}, err
	}
	if !metav1.IsControlledBy(there, source) || maps.EqualFunc(there.Data, data, equalBytes) {
		return controller.Result{}, nil // another owner's, or correct already
	}
	changed := there.DeepCopy() // objects in a store are shared
	changed.Data = data
	_, err := m.secrets.API.Namespace(source.Namespace).Update(ctx, changed)
	return controller.Result{}, err
}

func equalBytes(a, b []byte) bool { return string(a) == string(b) }
