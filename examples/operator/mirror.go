package main

import (
	"context"
	"maps"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// mirror keeps Secrets like the ConfigMaps that ask for it. It looks at its
// informers' stores and writes through its client; both are of the server's own
// types, with nothing generated in between.
type mirror struct {
	secrets  client.Resource[*corev1.Secret]
	informer *informer.Set
	sources  *informer.Store[*corev1.ConfigMap]
	copies   *informer.Store[*corev1.Secret]
	loop     *controller.Controller
}

func newMirror(config *rest.Config) (*mirror, error) {
	c, err := client.New(config, client.Options{UserAgent: "mirror"})
	if err != nil {
		return nil, err
	}
	set := informer.NewSet(c)
	sources, copies := informer.In[*corev1.ConfigMap](set), informer.In[*corev1.Secret](set)
	m := &mirror{
		secrets:  client.For[*corev1.Secret](c),
		informer: set,
		sources:  sources.Store(),
		copies:   copies.Store(),
	}
	m.loop = controller.New("mirror", m.reconcile, controller.Options{})
	controller.Watch(m.loop, sources, controller.Self[*corev1.ConfigMap])
	controller.Watch(m.loop, copies, controller.ControllerOf[*corev1.Secret]("ConfigMap"))
	return m, nil
}

func (m *mirror) run(ctx context.Context) error {
	m.informer.Start(ctx)
	defer m.informer.Stop()
	return m.loop.Run(ctx)
}

// reconcile makes the Secret of one ConfigMap what it should be. An error, such as
// a conflict with somebody else's write, brings the key back a little later.
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
		return controller.Result{}, nil // somebody else's, or right already
	}
	changed := there.DeepCopy() // what a store holds is everybody's
	changed.Data = data
	_, err := m.secrets.Namespace(k.Namespace).Update(ctx, changed)
	return controller.Result{}, err
}

func equalBytes(a, b []byte) bool { return string(a) == string(b) }
