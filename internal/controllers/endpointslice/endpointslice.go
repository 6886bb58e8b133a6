package endpointslice

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/backends"
)

const (
	manager = "endpointslice-controller.k8s.io"
	pace    = 100 * time.Millisecond
	// byService is the index of slices managed here by namespace/name of their Service.
	byService = "service"
)

type controllerState struct {
	env      controller.Env
	slices   controller.Objects[*discoveryv1.EndpointSlice]
	nodes    controller.Objects[*corev1.Node]
	services backends.Services
	triggers backends.Triggers
	written  podcontrol.Written
	pace     podcontrol.Pace
	shared   sharing
	rec      *client.Recorder
	loop     *controller.Controller
}

// New returns the EndpointSlice controller.
func New(env controller.Env) controller.Runner {
	c := &controllerState{
		env:      env,
		slices:   controller.ObjectsOf[*discoveryv1.EndpointSlice](env),
		nodes:    controller.ObjectsOf[*corev1.Node](env),
		services: backends.New(env.Informers),
		pace:     podcontrol.Pace{Every: pace},
		rec:      env.Recorder.From("endpoint-slice-controller", ""),
	}
	c.slices.Index(byService, func(s *discoveryv1.EndpointSlice) []string {
		if k, ok := serviceOf(s); ok {
			return []string{k.String()}
		}
		return nil
	})
	c.loop = controller.New("endpointslice", controller.ByObject(c.services.All, c.reconcile, c.forget), controller.Options{})
	c.services.Watch(c.loop, &c.pace)
	return c.loop.Watch(
		controller.Handles(c.slices, informer.Handler[*discoveryv1.EndpointSlice]{
			Add:    func(s *discoveryv1.EndpointSlice, _ bool) { c.sliceSeen(s) },
			Update: func(old, s *discoveryv1.EndpointSlice) { c.sliceSeen(old); c.sliceSeen(s) },
			Delete: func(s *discoveryv1.EndpointSlice) {
				if k, ok := serviceOf(s); ok {
					c.written.Gone(k, s.UID)
					c.loop.EnqueueFor(k, s)
				}
			},
		}),
		c.zones(),
	)
}

func (c *controllerState) sliceSeen(s *discoveryv1.EndpointSlice) {
	if k, ok := serviceOf(s); ok {
		c.loop.EnqueueForAfter(k, s, c.pace.Delay(k))
	}
}

// serviceOf returns the Service of a slice managed here.
func serviceOf(s *discoveryv1.EndpointSlice) (controller.Key, bool) {
	name := s.Labels[discoveryv1.LabelServiceName]
	return controller.Key{Namespace: s.Namespace, Name: name}, name != "" && s.Labels[discoveryv1.LabelManagedBy] == manager
}

func (c *controllerState) forget(k controller.Key) {
	c.triggers.Forget(k)
	c.pace.Forget(k)
	c.written.Forget(k)
	c.shared.set(k, false)
}

func (c *controllerState) reconcile(ctx context.Context, svc *corev1.Service) (controller.Result, error) {
	k := controller.KeyOf(svc)
	if svc.Spec.Type == corev1.ServiceTypeExternalName || svc.Spec.Selector == nil {
		return controller.Result{}, nil // its endpoints may be managed by others
	}
	cached := c.slices.Store().ByIndex(byService, k.String())
	if podcontrol.Behind(&c.written, k, cached) {
		return controller.Result{RequeueAfter: time.Second}, nil // its event comes earlier
	}
	c.pace.Mark(k)
	pods := c.services.Behind(svc, true)
	wanted, errs := c.wanted(svc, pods)
	c.balance(svc, cached, wanted)
	p, trigger := plan(svc, cached, wanted), c.triggers.Next(svc, pods)
	if !p.empty() {
		errs = append(errs, c.write(ctx, k, svc, p, trigger)...)
	}
	err := errors.Join(errs...)
	if podcontrol.NamespaceGoing(err) {
		return controller.Result{}, nil
	}
	if err != nil && !apierrors.IsConflict(err) {
		c.rec.Event(svc, corev1.EventTypeWarning, "FailedToUpdateEndpointSlices",
			"Error updating Endpoint Slices for Service %s/%s: %v", svc.Namespace, svc.Name, utilerrors.NewAggregate(errs))
	}
	return controller.Result{}, err
}

// write carries out a plan: creates come first, so that no endpoint is missing in between.
func (c *controllerState) write(ctx context.Context, k controller.Key, svc *corev1.Service, p changes, trigger time.Time) (errs []error) {
	api := c.slices.API.Namespace(svc.Namespace)
	failed := func(verb string, err error) {
		errs = append(errs, fmt.Errorf("failed to %s EndpointSlice for Service %s/%s: %w", verb, svc.Namespace, svc.Name, err))
	}
	for _, s := range p.create {
		stampTrigger(s, trigger)
		made, err := api.Create(ctx, s)
		if err != nil {
			failed("create", err)
			if podcontrol.NamespaceGoing(err) {
				return errs
			}
			continue
		}
		c.written.Wrote(k, made)
	}
	for _, s := range p.update {
		stampTrigger(s, trigger)
		made, err := api.Update(ctx, s)
		if err != nil {
			failed("update "+s.Name, err)
			continue
		}
		c.written.Wrote(k, made)
	}
	for _, s := range p.remove {
		err := api.Delete(ctx, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
		if err != nil && !apierrors.IsNotFound(err) {
			failed("delete "+s.Name, err)
			continue
		}
		c.written.Deleted(k, s)
	}
	return errs
}

func stampTrigger(s *discoveryv1.EndpointSlice, at time.Time) {
	if at.IsZero() {
		delete(s.Annotations, corev1.EndpointsLastChangeTriggerTime)
		return
	}
	if s.Annotations == nil {
		s.Annotations = make(map[string]string)
	}
	s.Annotations[corev1.EndpointsLastChangeTriggerTime] = at.UTC().Format(time.RFC3339Nano)
}
