package main

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
)

// operator keeps the Secret of each Mirror equal to its ConfigMap. It reads from its informers' stores and writes
// through the API, both with the API's own types and without generated code.
type operator struct {
	mirrors controller.Objects[*Mirror]
	sources controller.Objects[*corev1.ConfigMap]
	secrets controller.Objects[*corev1.Secret]
}

// newOperator returns the operator, ready to run: one of its replicas works at a time.
func newOperator(config *rest.Config) (*controller.Manager, error) {
	types, err := scheme()
	if err != nil {
		return nil, err
	}
	m, err := controller.NewManager(config, "mirror", controller.ManagerOptions{
		Client: client.Options{Scheme: types},
		Lease:  leader.Candidate{Namespace: "default", Name: "mirror"},
	})
	if err != nil {
		return nil, err
	}
	o := &operator{controller.ObjectsOf[*Mirror](m.Env), controller.ObjectsOf[*corev1.ConfigMap](m.Env), controller.ObjectsOf[*corev1.Secret](m.Env)}
	o.mirrors.Index("configMap", func(m *Mirror) []string { return []string{m.Namespace + "/" + m.Spec.ConfigMap} })
	m.New("mirror", controller.ByObject(o.mirrors, o.reconcile), controller.Options{}).Watch(
		controller.For(o.mirrors),
		controller.Watches(o.sources, o.mirrorsOf),
		controller.Owns(o.secrets, kind.Kind),
	)
	return m, nil
}

// mirrorsOf names the Mirrors of a ConfigMap.
func (o *operator) mirrorsOf(source *corev1.ConfigMap) (keys []controller.Key) {
	for _, m := range o.mirrors.Store().ByIndex("configMap", source.Namespace+"/"+source.Name) {
		keys = append(keys, controller.KeyOf(m))
	}
	return keys
}

// reconcile writes the Secret of one Mirror. After an error, such as a conflict with another writer, it is called again a
// little later. The garbage collector deletes the Secret of a deleted Mirror, by its owner reference.
func (o *operator) reconcile(ctx context.Context, m *Mirror) (controller.Result, error) {
	source, ok := o.sources.Store().Get(m.Namespace, m.Spec.ConfigMap)
	if !ok || m.DeletionTimestamp != nil {
		return controller.Result{}, nil
	}
	data := map[string][]byte{}
	for key, text := range source.Data {
		data[key] = []byte(text)
	}
	there, ok := o.secrets.Store().Get(m.Namespace, m.Spec.Secret)
	if !ok {
		secret := &corev1.Secret{Data: data}
		secret.Name = m.Spec.Secret
		secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(m, kind)}
		_, err := o.secrets.API.Namespace(m.Namespace).Create(ctx, secret)
		return controller.Result{}, err
	}
	if !metav1.IsControlledBy(there, m) || maps.EqualFunc(there.Data, data, equalBytes) {
		return controller.Result{}, nil // another owner's, or correct already
	}
	changed := there.DeepCopy() // objects in a store are shared
	changed.Data = data
	_, err := o.secrets.API.Namespace(m.Namespace).Update(ctx, changed)
	return controller.Result{}, err
}

func equalBytes(a, b []byte) bool { return string(a) == string(b) }
