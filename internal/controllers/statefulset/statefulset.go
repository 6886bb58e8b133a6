package statefulset

import (
	"context"
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

var kind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

// lateness is the retry interval of a pass over a cache that is behind, in case the event does not come.
const lateness = time.Second

type sets struct {
	env     controller.Env
	options Options
	all     controller.Objects[*appsv1.StatefulSet]
	pods    podcontrol.Owned[*corev1.Pod]
	claims  controller.Objects[*corev1.PersistentVolumeClaim]
	owners  podcontrol.Owners[*appsv1.StatefulSet]
	history *history.Keeper
	written podcontrol.Written
	rec     *client.Recorder
	loop    *controller.Controller
}

// Options configure the controller.
type Options struct {
	// NoMaxUnavailable makes it replace one pod at a time, as without the feature gate MaxUnavailableStatefulSet.
	NoMaxUnavailable bool
}

// New returns the StatefulSet controller.
func New(env controller.Env, o Options) controller.Runner {
	c := &sets{
		env:     env,
		options: o,
		all:     controller.ObjectsOf[*appsv1.StatefulSet](env),
		pods:    podcontrol.OwnedOf[*corev1.Pod](env),
		claims:  controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		history: history.New(env, kind, "controller.kubernetes.io/hash"),
		rec:     env.Recorder.From("statefulset-controller", ""),
	}
	c.owners = podcontrol.Owners[*appsv1.StatefulSet]{Kind: kind, From: c.all, Selector: selectorOf}
	c.loop = controller.New("statefulset", controller.ByObject(c.all, c.reconcile, c.written.Forget), controller.Options{})
	return c.loop.Watch(
		controller.For(c.all),
		controller.Handles(c.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { c.podChanged(p, true) },
			Update: c.podUpdated,
			Delete: c.podGone,
		}),
		controller.Watches(c.claims, c.setsOfClaim).On(controller.Deleted),
		controller.Reads(c.history.Revisions), // which only this controller changes
	)
}

func selectorOf(set *appsv1.StatefulSet) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(set.Spec.Selector)
}

func (c *sets) reconcile(ctx context.Context, set *appsv1.StatefulSet) (controller.Result, error) {
	k := controller.KeyOf(set)
	selector, err := selectorOf(set)
	if err != nil {
		c.env.Log.Warn("unusable selector", "controller", "statefulset", "object", k, "error", err)
		return controller.Result{}, nil
	}
	if podcontrol.Behind(&c.written, k, c.pods.By(set.UID)) {
		return controller.Result{RequeueAfter: lateness}, nil // its event comes earlier
	}
	owner := history.Owner{Object: set, Template: &set.Spec.Template, Selector: selector,
		Collisions: ptr.Deref(set.Status.CollisionCount, 0), Fresh: podcontrol.Fresh(c.all.API, set)}
	revisions, err := c.history.Of(ctx, owner)
	if err != nil {
		return controller.Result{}, err
	}
	pods, err := c.claimPods(ctx, set, selector)
	if err != nil {
		return controller.Result{}, err
	}
	update, collisions, err := c.history.Now(ctx, owner, revisions)
	if err != nil {
		return controller.Result{}, err
	}
	p, err := newPass(ctx, c, set, pods, revisions, update)
	if err != nil {
		return controller.Result{}, err
	}
	p.status.CollisionCount = &collisions
	stepErr := p.step()
	if err := p.writeStatus(); stepErr == nil {
		stepErr = err
	}
	if err := c.history.Trim(ctx, revisions, p.isLive, int(ptr.Deref(set.Spec.RevisionHistoryLimit, 10))); stepErr == nil {
		stepErr = err
	}
	return controller.Result{RequeueAfter: p.nextAvailable()}, stepErr
}

// claimPods returns the pods that the set controls, by owner reference, selector and name.
func (c *sets) claimPods(ctx context.Context, set *appsv1.StatefulSet, selector labels.Selector) ([]*corev1.Pod, error) {
	var orphans []*corev1.Pod
	for _, p := range c.pods.Orphans(set.Namespace) {
		if _, ok := ordinalOf(set, p); ok {
			orphans = append(orphans, p)
		}
	}
	claim := podcontrol.Claim[*corev1.Pod]{Owner: set, Kind: kind, Selector: selector, Resource: c.pods.API, Fresh: podcontrol.Fresh(c.all.API, set)}
	return claim.Take(ctx, c.pods.By(set.UID), orphans)
}
