package daemonset

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/history"
)

var kind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

const (
	// perPass is the maximum number of pods that one pass creates or deletes.
	perPass = 250
	// pace is the minimum time between two passes caused only by pods' status.
	pace = 25 * time.Millisecond
)

type daemons struct {
	env      controller.Env
	all      controller.Objects[*appsv1.DaemonSet]
	pods     podcontrol.Owned[*corev1.Pod]
	nodes    controller.Objects[*corev1.Node]
	owners   podcontrol.Owners[*appsv1.DaemonSet]
	history  *history.Keeper
	control  *podcontrol.Control
	rec      *client.Recorder
	expected controller.Expectations
	failures failures
	pace     podcontrol.Pace
	loop     *controller.Controller
}

// New returns the DaemonSet controller.
func New(env controller.Env) controller.Runner {
	rec := env.Recorder.From("daemonset-controller", "")
	c := &daemons{
		env:     env,
		all:     controller.ObjectsOf[*appsv1.DaemonSet](env),
		pods:    podcontrol.OwnedOf[*corev1.Pod](env),
		nodes:   controller.ObjectsOf[*corev1.Node](env),
		history: history.New(env, kind, appsv1.DefaultDaemonSetUniqueLabelKey),
		control: podcontrol.New(env.Client, rec),
		rec:     rec,
		pace:    podcontrol.Pace{Every: pace},
	}
	c.owners = podcontrol.Owners[*appsv1.DaemonSet]{Kind: kind, From: c.all, Selector: selectorOf}
	c.loop = controller.New("daemonset", controller.ByObject(c.all, c.reconcile, c.forget), controller.Options{})
	return c.loop.Watch(
		controller.For(c.all),
		controller.Handles(c.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { c.podAdded(p) },
			Update: c.podUpdated,
			Delete: c.podGone,
		}),
		controller.Handles(c.nodes, informer.Handler[*corev1.Node]{
			Add:    func(n *corev1.Node, _ bool) { c.nodeChanged(nil, n) },
			Update: c.nodeChanged,
			Delete: func(n *corev1.Node) { c.nodeChanged(n, nil) },
		}),
		controller.Reads(c.history.Revisions), // which only this controller changes
	)
}

func selectorOf(ds *appsv1.DaemonSet) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(ds.Spec.Selector)
}

func (c *daemons) forget(k controller.Key) {
	c.expected.Forget(k)
	c.pace.Forget(k)
	c.failures.forget(k)
}

func (c *daemons) reconcile(ctx context.Context, ds *appsv1.DaemonSet) (controller.Result, error) {
	k := controller.KeyOf(ds)
	c.pace.Mark(k)
	selector, err := selectorOf(ds)
	switch {
	case err != nil:
		c.env.Log.Warn("unusable selector", "controller", "daemonset", "object", k, "error", err)
		return controller.Result{}, nil
	case selector.Empty():
		c.rec.Event(ds, corev1.EventTypeWarning, "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
		return controller.Result{}, nil
	case ds.DeletionTimestamp != nil:
		return controller.Result{}, nil // left to the garbage collector, with the revisions
	}
	settled := c.expected.Satisfied(k) // before the pods are read
	owner := history.Owner{Object: ds, Template: &ds.Spec.Template, Selector: selector,
		Collisions: ptr.Deref(ds.Status.CollisionCount, 0), Fresh: podcontrol.Fresh(c.all.API, ds)}
	revisions, err := c.history.Of(ctx, owner)
	if err != nil {
		return controller.Result{}, err
	}
	current, collisions, err := c.history.Now(ctx, owner, revisions)
	if err != nil {
		return controller.Result{}, fmt.Errorf("failed to construct revisions of DaemonSet: %w", err)
	}
	pods, err := c.claim(ctx, ds, selector)
	if err != nil {
		return controller.Result{}, err
	}
	p, err := newPass(ctx, c, ds, pods, current)
	if err != nil {
		return controller.Result{}, err
	}
	var stepErr error
	if settled {
		if stepErr = p.step(); stepErr == nil {
			stepErr = c.history.Trim(ctx, revisions, p.isLive, int(ptr.Deref(ds.Spec.RevisionHistoryLimit, 10)))
		}
	}
	if err := p.writeStatus(collisions, settled); stepErr == nil {
		stepErr = err
	}
	return controller.Result{RequeueAfter: p.again}, stepErr
}

func (c *daemons) claim(ctx context.Context, ds *appsv1.DaemonSet, selector labels.Selector) ([]*corev1.Pod, error) {
	claim := podcontrol.Claim[*corev1.Pod]{Owner: ds, Kind: kind, Selector: selector, Resource: c.pods.API, Fresh: podcontrol.Fresh(c.all.API, ds)}
	return claim.Take(ctx, c.pods.By(ds.UID), c.pods.Orphans(ds.Namespace))
}
