package job

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

var kind = batchv1.SchemeGroupVersion.WithKind("Job")

const (
	// perPass is the maximum number of pods that one pass creates or deletes.
	perPass = 500
	// pace is the minimum time between two passes caused only by pods.
	pace = 50 * time.Millisecond
)

// Options configure the controller.
type Options struct {
	// Workloads: Jobs have Workloads and PodGroups (feature gate WorkloadWithJob).
	Workloads bool
}

type jobs struct {
	env      controller.Env
	all      controller.Objects[*batchv1.Job]
	pods     podcontrol.Owned[*corev1.Pod]
	owners   podcontrol.Owners[*batchv1.Job]
	groups   *workloads // nil unless Options.Workloads
	control  *podcontrol.Control
	rec      *client.Recorder
	expected controller.Expectations
	released released
	backoffs backoffs
	written  podcontrol.Written
	pace     podcontrol.Pace
	loop     *controller.Controller
	strays   *controller.Controller
}

// New returns the Job controller.
func New(env controller.Env, o Options) controller.Runner {
	rec := env.Recorder.From("job-controller", "")
	c := &jobs{
		env:     env,
		all:     controller.ObjectsOf[*batchv1.Job](env),
		pods:    podcontrol.OwnedOf[*corev1.Pod](env),
		control: podcontrol.New(env.Client, rec),
		rec:     rec,
		pace:    podcontrol.Pace{Every: pace},
	}
	c.owners = podcontrol.Owners[*batchv1.Job]{Kind: kind, From: c.all, Selector: selectorOf}
	c.strays = controller.New("job-strays", controller.ByObject(c.pods, c.releaseStray), controller.Options{})
	c.strays.Watch(controller.Reads(c.all), controller.Reads(c.pods)) // keys come from the handlers of loop
	c.loop = controller.New("job", controller.ByObject(c.all, c.reconcile, c.forget), controller.Options{})
	c.loop.Watch(
		controller.Handles(c.all, informer.Handler[*batchv1.Job]{
			Add:    func(j *batchv1.Job, _ bool) { c.loop.EnqueueFor(controller.KeyOf(j), j) },
			Update: func(_, j *batchv1.Job) { c.jobChanged(j, isFinished(j)) },
			Delete: func(j *batchv1.Job) { c.jobChanged(j, true) },
		}),
		controller.Handles(c.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { c.podAdded(p) },
			Update: c.podUpdated,
			Delete: c.podGone,
		}),
	)
	if o.Workloads {
		c.groups = newWorkloads(env, rec, c.loop)
	}
	return controller.Runners{c.loop, c.strays}
}

func selectorOf(j *batchv1.Job) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(j.Spec.Selector)
}

func (c *jobs) reconcile(ctx context.Context, cached *batchv1.Job) (controller.Result, error) {
	k := controller.KeyOf(cached)
	if !isOurs(cached) {
		return controller.Result{}, nil
	}
	if isFinished(cached) {
		c.backoffs.forget(k)
		return controller.Result{}, nil
	}
	if podcontrol.Behind(&c.written, k, []*batchv1.Job{cached}) {
		return controller.Result{RequeueAfter: time.Second}, nil // its event comes earlier
	}
	if m := cached.Spec.CompletionMode; m != nil && *m != batchv1.NonIndexedCompletion && *m != batchv1.IndexedCompletion {
		c.rec.Event(cached, corev1.EventTypeWarning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
		return controller.Result{}, nil
	}
	c.pace.Mark(k)
	// Both are read before the pods: a change in between would be missed in the expectations, and a pod whose
	// finalizer is removed by then would be counted twice.
	settled, released := c.expected.Satisfied(k), c.released.of(k)
	pods, err := c.claim(ctx, cached)
	if err != nil {
		return controller.Result{}, err
	}
	group, err := c.groups.groupFor(ctx, cached, pods)
	if err != nil {
		return controller.Result{}, err
	}
	p := newPass(c, ctx, k, cached.DeepCopy(), pods, released)
	p.group = group
	return p.run(settled)
}

func (c *jobs) claim(ctx context.Context, j *batchv1.Job) ([]*corev1.Pod, error) {
	selector, err := selectorOf(j)
	if err != nil {
		return nil, err
	}
	claim := podcontrol.Claim[*corev1.Pod]{
		Owner:      j,
		Kind:       kind,
		Selector:   selector,
		Resource:   c.pods.API,
		Finalizers: []string{batchv1.JobTrackingFinalizer},
		Fresh:      podcontrol.Fresh(c.all.API, j),
	}
	return claim.Take(ctx, c.pods.By(j.UID), c.pods.Orphans(j.Namespace))
}

func (c *jobs) forget(k controller.Key) {
	c.expected.Forget(k)
	c.released.forget(k)
	c.backoffs.forget(k)
	c.written.Forget(k)
	c.pace.Forget(k)
}

// isOurs reports whether the Job is managed by this controller.
func isOurs(j *batchv1.Job) bool {
	return j.Spec.ManagedBy == nil || *j.Spec.ManagedBy == batchv1.JobControllerName
}

func isFinished(j *batchv1.Job) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

func isIndexed(j *batchv1.Job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}

func isSuspended(j *batchv1.Job) bool { return ptr.Deref(j.Spec.Suspend, false) }

// limitPerIndex reports whether failures are limited per index.
func limitPerIndex(j *batchv1.Job) bool { return j.Spec.BackoffLimitPerIndex != nil }

// waitsForFailed reports whether a pod is replaced only when it has finished, and not when it starts terminating.
func waitsForFailed(j *batchv1.Job) bool {
	return j.Spec.PodFailurePolicy != nil ||
		(j.Spec.PodReplacementPolicy != nil && *j.Spec.PodReplacementPolicy == batchv1.Failed)
}

func isTracked(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
}

// hasFailed reports whether the pod counts as a failure of the Job.
func hasFailed(p *corev1.Pod, j *batchv1.Job) bool {
	if p.Status.Phase == corev1.PodFailed {
		return true
	}
	return !waitsForFailed(j) && p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded
}

func parallelism(j *batchv1.Job) int32  { return ptr.Deref(j.Spec.Parallelism, 1) }
func backoffLimit(j *batchv1.Job) int32 { return ptr.Deref(j.Spec.BackoffLimit, 6) }
