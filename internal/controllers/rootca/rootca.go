package rootca

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"golang.org/x/sync/errgroup"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
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
	// CA is the bundle to publish, in PEM. Without it the publisher is idle.
	CA []byte
}

type publisher struct {
	data       map[string]string
	api        client.Resource[*corev1.ConfigMap]
	maps       *informer.Informer[*corev1.ConfigMap]
	namespaces *informer.Informer[*corev1.Namespace]
	loop       *controller.Controller
}

// New returns the publisher.
func New(env controller.Env, o Options) controller.Runner {
	api := client.For[*corev1.ConfigMap](env.Client)
	p := &publisher{
		data: map[string]string{file: string(o.CA)},
		api:  api,
		// It needs only one ConfigMap of each namespace: an informer of its own, otherwise like the shared ones.
		maps: informer.New(client.For[*corev1.ConfigMap](env.Informers.Client()), informer.Options[*corev1.ConfigMap]{
			FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String(),
		}),
		namespaces: informer.For[*corev1.Namespace](env.Informers),
	}
	p.loop = controller.New("rootca", p.reconcile, controller.Options{})
	if len(o.CA) == 0 {
		return p.loop
	}
	controller.Watch(p.loop, p.namespaces, controller.Self[*corev1.Namespace])
	controller.Watch(p.loop, p.maps, func(m *corev1.ConfigMap) []controller.Key {
		return []controller.Key{{Name: m.Namespace}}
	})
	return p
}

// Run runs the loop and the informer that is the publisher's own.
func (p *publisher) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.maps.Run(ctx) })
	g.Go(func() error { return p.loop.Run(ctx) })
	return g.Wait()
}

// reconcile works on the namespace that the key names.
func (p *publisher) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	ns, ok := p.namespaces.Store().Get("", k.Name)
	if !ok || ns.Status.Phase != corev1.NamespaceActive {
		return controller.Result{}, nil
	}
	m, ok := p.maps.Store().Get(k.Name, name)
	if !ok {
		return controller.Result{}, p.create(ctx, k.Name)
	}
	if maps.Equal(m.Data, p.data) && m.Annotations[annotation] != "" {
		return controller.Result{}, nil
	}
	m = m.DeepCopy()
	m.Data = maps.Clone(p.data)
	if m.Annotations == nil {
		m.Annotations = make(map[string]string)
	}
	m.Annotations[annotation] = description
	_, err := p.api.Namespace(k.Name).Update(ctx, m)
	if apierrors.IsNotFound(err) {
		err = nil // the deletion event enqueues it again
	}
	return controller.Result{}, err
}

func (p *publisher) create(ctx context.Context, namespace string) error {
	_, err := p.api.Namespace(namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   namespace,
			Annotations: map[string]string{annotation: description},
		},
		Data: p.data,
	})
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}
