package replicas

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
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
	sets     podcontrol.Owned[T]
	pods     podcontrol.Owned[*corev1.Pod]
	owners   podcontrol.Owners[T]
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
		sets:     podcontrol.OwnedOf[T](env),
		pods:     podcontrol.OwnedOf[*corev1.Pod](env),
		control:  podcontrol.New(env.Client, env.Recorder.From(kind.Component, "")),
		pace:     podcontrol.Pace{Every: pace},
		farewell: podcontrol.Pace{Every: farewell},
	}
	e.owners = podcontrol.Owners[T]{Kind: kind.GVK, From: e.sets, Selector: func(o T) (labels.Selector, error) {
		v, err := kind.View(o)
		return v.Selector, err
	}}
	e.loop = controller.New(kind.Name, controller.ByObject(e.sets, e.reconcile, e.forget), controller.Options{})
	return e.loop.Watch(
		controller.For(e.sets),
		controller.Handles(e.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { e.podAdded(p) },
			Update: e.podUpdated,
			Delete: e.podGone,
		}),
	)
}

func (e *engine[T]) forget(k controller.Key) {
	e.expected.Forget(k)
	e.pace.Forget(k)
	e.farewell.Forget(k)
	e.going.Delete(k)
}

func (e *engine[T]) reconcile(ctx context.Context, o T) (controller.Result, error) {
	k := controller.KeyOf(o)
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

	all := e.pods.By(o.GetUID())
	claim := e.claim(o, v)
	active, err := claim.Take(ctx, podcontrol.Active(all), podcontrol.Active(e.pods.Orphans(k.Namespace)))
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
		if _, err := e.sets.API.Namespace(k.Namespace).UpdateStatus(ctx, e.kind.WithStatus(o, seen.status)); err != nil {
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
		Resource: e.pods.API,
		Fresh:    podcontrol.Fresh(e.sets.API, o),
	}
}
