package replicas

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

const (
	// burst is the maximum number of pods that one pass creates or deletes.
	burst = 500
	// pace is the minimum time between two passes caused only by pods' status.
	pace = 25 * time.Millisecond
	// farewell is the pace of an object in a terminating namespace: a pass then only counts, and each status write
	// is an event that would cause the next.
	farewell = 200 * time.Millisecond
)

type engine[T client.Object] struct {
	kind     Kind[T]
	env      controller.Env
	objects  client.Resource[T]
	pods     client.Resource[*corev1.Pod]
	sets     podcontrol.Owned[T]
	owned    podcontrol.Owned[*corev1.Pod]
	control  *podcontrol.Control
	expected controller.Expectations
	pace     podcontrol.Pace
	farewell podcontrol.Pace
	going    sync.Map // controller.Key -> types.UID, of objects in terminating namespaces
	loop     *controller.Controller
}

// New returns the controller of one kind, with its handlers registered.
func New[T client.Object](env controller.Env, kind Kind[T]) controller.Runner {
	e := &engine[T]{
		kind:     kind,
		env:      env,
		objects:  client.For[T](env.Client),
		pods:     client.For[*corev1.Pod](env.Client),
		sets:     podcontrol.Index[T](env.Informers),
		owned:    podcontrol.Index[*corev1.Pod](env.Informers),
		control:  podcontrol.New(env.Client, env.Recorder.From(kind.Component, "")),
		pace:     podcontrol.Pace{Every: pace},
		farewell: podcontrol.Pace{Every: farewell},
	}
	e.loop = controller.New(kind.Name, e.reconcile, controller.Options{})
	controller.Watch(e.loop, e.sets.Informer, controller.Self[T])
	e.watchPods()
	return e.loop
}

func (e *engine[T]) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	o, ok := e.sets.Store().Get(k.Namespace, k.Name)
	if !ok {
		e.expected.Forget(k)
		e.pace.Forget(k)
		e.farewell.Forget(k)
		e.going.Delete(k)
		return controller.Result{}, nil
	}
	e.pace.Mark(k)
	going := e.goes(k, o.GetUID())
	if going {
		if d := e.farewell.Delay(k); d > 0 {
			return controller.Result{RequeueAfter: d}, nil
		}
		e.farewell.Mark(k)
	}
	v, err := e.kind.View(o)
	if err != nil {
		e.env.Log.Warn("unusable selector", "controller", e.kind.Name, "object", k, "error", err)
		return controller.Result{}, nil
	}

	// Read before the pods: an expectation that is met now was met by a pod that is in the store already.
	settled := e.expected.Satisfied(k)

	all := e.owned.By(o.GetUID())
	claim := e.claim(o, v)
	active, err := claim.Take(ctx, podcontrol.Active(all), podcontrol.Active(e.owned.Orphans(k.Namespace)))
	if err != nil {
		return controller.Result{}, err
	}
	var manageErr error
	if settled && o.GetDeletionTimestamp() == nil && !going {
		manageErr = e.manage(ctx, k, o, v, active)
	}

	now := time.Now()
	seen := count(v, active, now)
	if e.kind.Terminating {
		n := int32(len(claim.Owns(podcontrol.Terminating(all))))
		seen.status.TerminatingReplicas = &n
	}
	seen.status.ObservedGeneration = o.GetGeneration()
	seen.status.Conditions = failureCondition(v, len(active), manageErr)
	if statusChanged(v.Status, seen.status) {
		if _, err := e.objects.Namespace(k.Namespace).UpdateStatus(ctx, e.kind.WithStatus(o, seen.status)); err != nil {
			if apierrors.IsNotFound(err) {
				return controller.Result{}, manageErr
			}
			return controller.Result{}, err
		}
	}
	return controller.Result{RequeueAfter: seen.next}, manageErr
}

// goes reports whether the object's namespace is known to be terminating. No pods can be created in it, and the
// object will be deleted too, so its pods are only counted, in batches.
func (e *engine[T]) goes(k controller.Key, uid types.UID) bool {
	of, ok := e.going.Load(k)
	return ok && of == uid
}

func (e *engine[T]) claim(o T, v View) podcontrol.Claim[*corev1.Pod] {
	return podcontrol.Claim[*corev1.Pod]{
		Owner:    o,
		Kind:     e.kind.GVK,
		Selector: v.Selector,
		Resource: e.pods,
		Fresh: func(ctx context.Context) (metav1.Object, error) {
			return e.objects.Namespace(o.GetNamespace()).Get(ctx, o.GetName())
		},
	}
}
