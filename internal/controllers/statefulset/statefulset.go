package statefulset

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

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
	env      controller.Env
	api      client.Resource[*appsv1.StatefulSet]
	podAPI   client.Resource[*corev1.Pod]
	claimAPI client.Resource[*corev1.PersistentVolumeClaim]
	all      *informer.Informer[*appsv1.StatefulSet]
	pods     podcontrol.Owned[*corev1.Pod]
	claims   *informer.Informer[*corev1.PersistentVolumeClaim]
	history  *history.Keeper
	written  podcontrol.Written
	rec      *client.Recorder
	loop     *controller.Controller
}

// New returns the StatefulSet controller.
func New(env controller.Env) controller.Runner {
	c := &sets{
		env:      env,
		api:      client.For[*appsv1.StatefulSet](env.Client),
		podAPI:   client.For[*corev1.Pod](env.Client),
		claimAPI: client.For[*corev1.PersistentVolumeClaim](env.Client),
		all:      informer.For[*appsv1.StatefulSet](env.Informers),
		pods:     podcontrol.Index[*corev1.Pod](env.Informers),
		claims:   informer.For[*corev1.PersistentVolumeClaim](env.Informers),
		history:  history.New(env, kind, "controller.kubernetes.io/hash"),
		rec:      env.Recorder.From("statefulset-controller", ""),
	}
	c.loop = controller.New("statefulset", c.reconcile, controller.Options{})
	c.watch()
	return c.loop
}

func (c *sets) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	set, ok := c.all.Store().Get(k.Namespace, k.Name)
	if !ok {
		c.written.Forget(k)
		return controller.Result{}, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		c.env.Log.Warn("unusable selector", "controller", "statefulset", "object", k, "error", err)
		return controller.Result{}, nil
	}
	if podcontrol.Behind(&c.written, k, c.pods.By(set.UID)) {
		return controller.Result{RequeueAfter: lateness}, nil // its event comes earlier
	}
	owner := history.Owner{Object: set, Template: &set.Spec.Template, Selector: selector, Fresh: c.fresh(set)}
	if n := set.Status.CollisionCount; n != nil {
		owner.Collisions = *n
	}
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
	if err := c.history.Trim(ctx, revisions, p.isLive, historyLimit(set)); stepErr == nil {
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
	claim := podcontrol.Claim[*corev1.Pod]{Owner: set, Kind: kind, Selector: selector, Resource: c.podAPI, Fresh: c.fresh(set)}
	return claim.Take(ctx, c.pods.By(set.UID), orphans)
}

func (c *sets) fresh(set *appsv1.StatefulSet) func(context.Context) (metav1.Object, error) {
	return func(ctx context.Context) (metav1.Object, error) {
		return c.api.Namespace(set.Namespace).Get(ctx, set.Name)
	}
}

func historyLimit(set *appsv1.StatefulSet) int {
	if n := set.Spec.RevisionHistoryLimit; n != nil {
		return int(*n)
	}
	return 10
}
