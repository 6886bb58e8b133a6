//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpoints

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/backends"
)

const (
	managedBy = "endpoints.kubernetes.io/managed-by"
	manager   = "endpoint-controller"
	pace      = 100 * time.Millisecond
	// leaderRecord is the annotation of Endpoints used for leader election.
	leaderRecord = "control-plane.alpha.kubernetes.io/leader"
)

type endpoints struct {
	all      controller.Objects[*corev1.Endpoints]
	services backends.Services
	live     client.Resource[*corev1.Service]
	triggers backends.Triggers
	written  podcontrol.Written
	pace     podcontrol.Pace
	rec      *client.Recorder
	loop     *controller.Controller
}

// New returns the Endpoints controller.
func New(env controller.Env) controller.Runner {
	e := &endpoints{
		all:      controller.ObjectsOf[*corev1.Endpoints](env),
		services: backends.New(env.Informers),
		live:     client.For[*corev1.Service](env.Client),
		pace:     podcontrol.Pace{Every: pace},
		rec:      env.Recorder.From("endpoint-controller", ""),
	}
	e.loop = controller.New("endpoints", e.reconcile, controller.Options{})
	e.services.Watch(e.loop, &e.pace)
	return e.loop.Watch(controller.Handles(e.all, informer.Handler[*corev1.Endpoints]{
		Add: func(ep *corev1.Endpoints, initial bool) {
			if _, election := ep.Annotations[leaderRecord]; initial && !election {
				e.loop.EnqueueFor(controller.KeyOf(ep), ep) // its Service may have been deleted while no controller ran
				return
			}
			e.seen(ep)
		},
		Update: func(_, ep *corev1.Endpoints) { e.seen(ep) },
		Delete: func(ep *corev1.Endpoints) {
			e.written.Gone(controller.KeyOf(ep), ep.UID)
			if e.hasSelector(ep) {
				e.loop.EnqueueFor(controller.KeyOf(ep), ep)
			}
		},
	}))
}

func (e *endpoints) seen(ep *corev1.Endpoints) {
	if _, ours := ep.Labels[managedBy]; ours || e.hasSelector(ep) {
		k := controller.KeyOf(ep)
		e.loop.EnqueueForAfter(k, ep, e.pace.Delay(k))
	}
}

func (e *endpoints) hasSelector(ep *corev1.Endpoints) bool {
	svc, ok := e.services.All.Store().Get(ep.Namespace, ep.Name)
	return ok && svc.Spec.Selector != nil
}

func (e *endpoints) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	current, exists := e.all.Store().Get(k.Namespace, k.Name)
	svc, ok := e.services.All.Store().Get(k.Namespace, k.Name)
	if !ok {
		e.forget(k)
		return controller.Result{}, e.remove(ctx, current, exists)
	}
	if svc.Spec.Type == corev1.ServiceTypeExternalName || svc.Spec.Selector == nil {
		return controller.Result{}, nil
	}
	if e.behind(k, current, exists) {
		return controller.Result{RequeueAfter: time.Second}, nil // its event comes earlier
	}
	e.pace.Mark(k)
	pods := e.services.Behind(svc, svc.Spec.PublishNotReadyAddresses)
	wanted, at := build(svc, pods), e.triggers.Next(svc, pods)
	if exists && same(current, wanted) {
		return controller.Result{}, nil
	}
	if exists {
		kept := *current
		kept.Labels, kept.Subsets = wanted.Labels, wanted.Subsets
		kept.Annotations = maps.Clone(current.Annotations)
		delete(kept.Annotations, corev1.EndpointsOverCapacity)
		delete(kept.Annotations, corev1.EndpointsLastChangeTriggerTime)
		for a, v := range wanted.Annotations {
			metav1.SetMetaDataAnnotation(&kept.ObjectMeta, a, v)
		}
		wanted = &kept
	}
	if !at.IsZero() {
		metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, corev1.EndpointsLastChangeTriggerTime, at.UTC().Format(time.RFC3339Nano))
	}
	return controller.Result{}, e.write(ctx, k, wanted, exists)
}

func (e *endpoints) write(ctx context.Context, k controller.Key, ep *corev1.Endpoints, exists bool) error {
	var written *corev1.Endpoints
	var err error
	reason, what := "FailedToCreateEndpoint", "create endpoint for service"
	if exists {
		reason, what = "FailedToUpdateEndpoint", "update endpoint"
		written, err = e.all.API.Update(ctx, ep)
	} else {
		written, err = e.all.API.Create(ctx, ep)
	}
	switch {
	case err == nil:
		e.written.Wrote(k, written)
	case podcontrol.NamespaceGoing(err):
		return nil
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
		// The cache was behind; the next pass sees the object.
	default:
		e.rec.Event(ep, corev1.EventTypeWarning, reason, "Failed to %s %v: %v", what, k, err)
	}
	return err
}

// remove deletes the Endpoints of a deleted Service, even those created by users. Those of a Service that the informer has
// not seen yet stay.
func (e *endpoints) remove(ctx context.Context, ep *corev1.Endpoints, exists bool) error {
	if !exists {
		return nil
	}
	if _, err := e.live.Namespace(ep.Namespace).Get(ctx, ep.Name); !apierrors.IsNotFound(err) {
		return err
	}
	err := e.all.API.Namespace(ep.Namespace).Delete(ctx, ep.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &ep.UID},
	})
	return client.IgnoreNotFound(err)
}

func (e *endpoints) behind(k controller.Key, current *corev1.Endpoints, exists bool) bool {
	var cached []*corev1.Endpoints
	if exists {
		cached = append(cached, current)
	}
	return podcontrol.Behind(&e.written, k, cached)
}

func (e *endpoints) forget(k controller.Key) {
	e.triggers.Forget(k)
	e.pace.Forget(k)
	e.written.Forget(k)
}

func same(current, wanted *corev1.Endpoints) bool {
	return maps.Equal(current.Labels, wanted.Labels) &&
		current.Annotations[corev1.EndpointsOverCapacity] == wanted.Annotations[corev1.EndpointsOverCapacity] &&
		equality.Semantic.DeepEqual(current.Subsets, wanted.Subsets)
}
