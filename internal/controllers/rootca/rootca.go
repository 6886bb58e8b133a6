package rootca

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/cabundle"
)

const (
	name       = "kube-root-ca.crt"
	file       = "ca.crt"
	annotation = "kubernetes.io/description"
	// description is upstream's text for the annotation.
	description = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."
)

// Options configure the publisher.
type Options struct {
	// CA is the bundle to publish. Without certificates at the start the publisher is idle.
	CA cabundle.Bundle
}

type publisher struct {
	ca   cabundle.Bundle
	maps controller.Objects[*corev1.ConfigMap]
}

// data returns the data of each ConfigMap.
func (p *publisher) data() map[string]string { return map[string]string{file: string(p.ca.PEM())} }

// New returns the publisher.
func New(env controller.Env, o Options) controller.Runner {
	p := &publisher{
		ca: o.CA,
		// It needs only one ConfigMap of each namespace: an informer of its own, otherwise like the shared ones.
		maps: controller.Objects[*corev1.ConfigMap]{
			API: client.For[*corev1.ConfigMap](env.Client),
			Informer: informer.New(client.For[*corev1.ConfigMap](env.Informers.Client()), informer.Options[*corev1.ConfigMap]{
				FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String(),
			}),
		},
	}
	namespaces := controller.ObjectsOf[*corev1.Namespace](env)
	loop := controller.New("rootca", controller.ByObject(namespaces, p.reconcile), controller.Options{})
	if o.CA.Empty() {
		return loop
	}
	return controller.Runners{p.maps, loop.Watch(
		controller.For(namespaces),
		controller.Watches(p.maps, namespaceOf),
	), o.CA.Follow(func() {
		for _, ns := range namespaces.Store().List("") {
			loop.Enqueue(controller.KeyOf(ns))
		}
	})}
}

func namespaceOf(m *corev1.ConfigMap) []controller.Key { return []controller.Key{{Name: m.Namespace}} }

func (p *publisher) reconcile(ctx context.Context, ns *corev1.Namespace) (controller.Result, error) {
	if ns.Status.Phase != corev1.NamespaceActive {
		return controller.Result{}, nil
	}
	m, ok := p.maps.Store().Get(ns.Name, name)
	if !ok {
		return controller.Result{}, p.create(ctx, ns.Name)
	}
	data := p.data()
	if maps.Equal(m.Data, data) && m.Annotations[annotation] != "" {
		return controller.Result{}, nil
	}
	m = m.DeepCopy()
	m.Data = data
	if m.Annotations == nil {
		m.Annotations = make(map[string]string)
	}
	m.Annotations[annotation] = description
	_, err := p.maps.API.Namespace(ns.Name).Update(ctx, m)
	return controller.Result{}, client.IgnoreNotFound(err) // the deletion event enqueues it again
}

func (p *publisher) create(ctx context.Context, namespace string) error {
	_, err := p.maps.API.Namespace(namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   namespace,
			Annotations: map[string]string{annotation: description},
		},
		Data: p.data(),
	})
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}
