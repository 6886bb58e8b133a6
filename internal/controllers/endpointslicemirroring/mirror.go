//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpointslicemirroring

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

const (
	manager = "endpointslicemirroring-controller.k8s.io"
	// leaderRecord is the annotation of Endpoints used for leader election.
	leaderRecord = "control-plane.alpha.kubernetes.io/leader"
	// byName is the index of mirrors by namespace/name of their Service. It has a name of its own because the
	// informer is shared.
	byName = "mirror"
)

type mirror struct {
	endpoints controller.Objects[*corev1.Endpoints]
	services  controller.Objects[*corev1.Service]
	slices    controller.Objects[*discoveryv1.EndpointSlice]
	written   podcontrol.Written
	rec       *client.Recorder
	loop      *controller.Controller
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	m := &mirror{
		endpoints: controller.ObjectsOf[*corev1.Endpoints](env),
		services:  controller.ObjectsOf[*corev1.Service](env),
		slices:    controller.ObjectsOf[*discoveryv1.EndpointSlice](env),
		rec:       env.Recorder.From("endpoint-slice-mirroring-controller", ""),
	}
	m.slices.Index(byName, func(s *discoveryv1.EndpointSlice) []string {
		if k, ok := originOf(s); ok {
			return []string{k.String()}
		}
		return nil
	})
	m.loop = controller.New("endpointslicemirroring", m.reconcile, controller.Options{})
	return m.loop.Watch(
		controller.For(m.endpoints),
		controller.Handles(m.services, informer.Handler[*corev1.Service]{
			Add: func(s *corev1.Service, _ bool) { m.serviceSeen(s) },
			Update: func(old, s *corev1.Service) {
				if (old.Spec.Selector == nil) != (s.Spec.Selector == nil) {
					m.loop.EnqueueFor(controller.KeyOf(s), s)
				}
			},
			Delete: m.serviceSeen,
		}),
		controller.Handles(m.slices, informer.Handler[*discoveryv1.EndpointSlice]{
			Add:    func(s *discoveryv1.EndpointSlice, _ bool) { m.sliceSeen(s) },
			Update: func(old, s *discoveryv1.EndpointSlice) { m.sliceSeen(old); m.sliceSeen(s) },
			Delete: func(s *discoveryv1.EndpointSlice) {
				if k, ok := originOf(s); ok {
					m.written.Gone(k, s.UID)
					m.loop.EnqueueFor(k, s)
				}
			},
		}),
	)
}

func (m *mirror) serviceSeen(s *corev1.Service) {
	if s.Spec.Selector == nil {
		m.loop.EnqueueFor(controller.KeyOf(s), s)
	}
}

func (m *mirror) sliceSeen(s *discoveryv1.EndpointSlice) {
	if k, ok := originOf(s); ok {
		m.loop.EnqueueFor(k, s)
	}
}

// originOf returns the key of the Endpoints, and of the Service, of a mirror.
func originOf(s *discoveryv1.EndpointSlice) (controller.Key, bool) {
	name := s.Labels[discoveryv1.LabelServiceName]
	return controller.Key{Namespace: s.Namespace, Name: name}, name != "" && s.Labels[discoveryv1.LabelManagedBy] == manager
}

// mirrored returns the Endpoints, and reports whether they are to be mirrored.
func (m *mirror) mirrored(k controller.Key) (*corev1.Endpoints, bool) {
	ep, ok := m.endpoints.Store().Get(k.Namespace, k.Name)
	if !ok || ep.DeletionTimestamp != nil || ep.Labels[discoveryv1.LabelSkipMirror] == "true" {
		return nil, false
	}
	if _, election := ep.Annotations[leaderRecord]; election {
		return nil, false
	}
	svc, ok := m.services.Store().Get(k.Namespace, k.Name)
	return ep, ok && svc.Spec.Selector == nil
}

func (m *mirror) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	have := m.slices.Store().ByIndex(byName, k.String())
	ep, ok := m.mirrored(k)
	if !ok && len(have) == 0 {
		m.written.Forget(k)
		return controller.Result{}, nil
	}
	if podcontrol.Behind(&m.written, k, have) {
		return controller.Result{RequeueAfter: time.Second}, nil // its event comes earlier
	}
	var p changes
	if ok {
		groups, skipped := repack(ep.Subsets)
		m.report(ep, skipped)
		p = plan(ep, have, groups)
	} else {
		p.remove = have
	}
	err := m.write(ctx, k, p)
	if podcontrol.NamespaceGoing(err) {
		err = nil
	}
	return controller.Result{}, err
}

func (m *mirror) report(ep *corev1.Endpoints, s skipped) {
	if s.invalid > 0 {
		m.rec.Event(ep, corev1.EventTypeWarning, "InvalidIPAddress",
			"Skipped %d invalid IP addresses when mirroring to EndpointSlices", s.invalid)
	}
	if s.tooMany > 0 {
		m.rec.Event(ep, corev1.EventTypeWarning, "TooManyAddressesToMirror",
			"A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. %d addresses were skipped", perSubset, s.invalid+s.tooMany)
	}
}

// write carries out a plan: creates come first, so that no endpoint is missing in between.
func (m *mirror) write(ctx context.Context, k controller.Key, p changes) error {
	api := m.slices.API.Namespace(k.Namespace)
	var errs []error
	for _, s := range p.create {
		made, err := api.Create(ctx, s)
		if err != nil {
			return err
		}
		m.written.Wrote(k, made)
	}
	for _, s := range p.update {
		made, err := api.Update(ctx, s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		m.written.Wrote(k, made)
	}
	for _, s := range p.remove {
		err := api.Delete(ctx, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
			continue
		}
		m.written.Deleted(k, s)
	}
	return errors.Join(errs...)
}
