package disruption

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

const (
	// deletionTimeout is the time until which an evicted pod must be seen terminating.
	deletionTimeout = 2 * time.Minute
	// staleCondition is the time after which a marked pod counts as spared.
	staleCondition = 2 * time.Minute
)

type budgets struct {
	env         controller.Env
	all         controller.Objects[*policyv1.PodDisruptionBudget]
	pods        controller.Objects[*corev1.Pod]
	sets        controller.Objects[*appsv1.ReplicaSet]
	deployments controller.Objects[*appsv1.Deployment]
	rec         *client.Recorder
	loop        *controller.Controller
	spared      *controller.Controller
}

// New returns the disruption controller, with two queues: of budgets, and of pods that were spared.
func New(env controller.Env) controller.Runner {
	b := &budgets{
		env:         env,
		all:         controller.ObjectsOf[*policyv1.PodDisruptionBudget](env),
		pods:        controller.ObjectsOf[*corev1.Pod](env),
		sets:        controller.ObjectsOf[*appsv1.ReplicaSet](env),
		deployments: controller.ObjectsOf[*appsv1.Deployment](env),
		rec:         env.Recorder.From("controllermanager", ""),
	}
	b.spared = controller.New("disruption-spared", controller.ByObject(b.pods, b.clear), controller.Options{})
	b.loop = controller.New("disruption", controller.ByObject(b.all, b.reconcile), controller.Options{})
	b.loop.Watch(
		controller.For(b.all),
		controller.Handles(b.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { b.podChanged(nil, p) },
			Update: b.podChanged,
			Delete: func(p *corev1.Pod) { b.podChanged(p, nil) },
		}),
		// The pods' controllers: a change of their size changes the expectation of their budget.
		controller.Watches(b.sets, func(o *appsv1.ReplicaSet) []controller.Key { return b.over(o.Namespace, o.Spec.Template.Labels) }),
		controller.Watches(b.deployments, func(o *appsv1.Deployment) []controller.Key { return b.over(o.Namespace, o.Spec.Template.Labels) }),
	)
	b.spared.Watch(controller.Reads(b.pods)) // keys come from podChanged
	return controller.Runners{b.loop, b.spared}
}

// podChanged wakes the budgets over the old and the new state of a pod.
func (b *budgets) podChanged(old, p *corev1.Pod) {
	news := p
	if p == nil {
		news = old
	}
	for _, o := range []*corev1.Pod{old, p} {
		if o == nil {
			continue
		}
		over := b.over(o.Namespace, o.Labels)
		for _, k := range over {
			b.loop.EnqueueFor(k, news)
		}
		if len(over) > 1 && o == p { // in upstream's words; all of them apply
			b.rec.Event(p, corev1.EventTypeWarning, "MultiplePodDisruptionBudgets",
				"Pod %q/%q matches multiple PodDisruptionBudgets.  Chose %q arbitrarily.", p.Namespace, p.Name, over[0].Name)
		}
	}
	if p != nil && isTarget(p) {
		b.spared.EnqueueFor(controller.KeyOf(p), p)
	}
}

// over returns the budgets that select objects with the labels.
func (b *budgets) over(namespace string, set labels.Set) (keys []controller.Key) {
	for _, pdb := range b.all.Store().List(namespace) {
		s, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err == nil && s.Matches(set) {
			keys = append(keys, controller.KeyOf(pdb))
		}
	}
	return keys
}

func (b *budgets) reconcile(ctx context.Context, pdb *policyv1.PodDisruptionBudget) (controller.Result, error) {
	again, err := b.sync(ctx, pdb)
	if err == nil || apierrors.IsConflict(err) {
		return controller.Result{RequeueAfter: again}, err
	}
	b.env.Log.Warn("no disruption is allowed", "controller", "disruption", "object", controller.KeyOf(pdb), "error", err)
	return controller.Result{}, b.forbid(ctx, pdb, err)
}

// forbid writes a status that allows no disruption, with the reason.
func (b *budgets) forbid(ctx context.Context, pdb *policyv1.PodDisruptionBudget, why error) error {
	changed := pdb.DeepCopy()
	changed.Status.DisruptionsAllowed = 0
	dirty := meta.SetStatusCondition(&changed.Status.Conditions, metav1.Condition{
		Type:               policyv1.DisruptionAllowedCondition,
		Status:             metav1.ConditionFalse,
		Reason:             policyv1.SyncFailedReason,
		Message:            why.Error(),
		ObservedGeneration: pdb.Status.ObservedGeneration,
	})
	if !dirty && pdb.Status.DisruptionsAllowed == 0 {
		return nil
	}
	_, err := b.all.API.Namespace(pdb.Namespace).UpdateStatus(ctx, changed)
	return err
}
