package cronjob

import (
	"context"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

var kind = batchv1.SchemeGroupVersion.WithKind("CronJob")

type cronJobs struct {
	all  controller.Objects[*batchv1.CronJob]
	jobs podcontrol.Owned[*batchv1.Job]
	// written has each status, so that no decision is based on an old one.
	written podcontrol.Written
	rec     *client.Recorder
}

// New returns the CronJob controller.
func New(env controller.Env) controller.Runner {
	c := &cronJobs{
		all:  controller.ObjectsOf[*batchv1.CronJob](env),
		jobs: podcontrol.OwnedOf[*batchv1.Job](env),
		rec:  env.Recorder.From("cronjob-controller", ""),
	}
	return controller.New("cronjob", controller.ByObject(c.all, c.reconcile, c.written.Forget), controller.Options{}).Watch(
		controller.For(c.all),
		controller.Owns(c.jobs, kind.Kind),
	)
}

func (c *cronJobs) reconcile(ctx context.Context, cached *batchv1.CronJob) (controller.Result, error) {
	k := controller.KeyOf(cached)
	if podcontrol.Behind(&c.written, k, []*batchv1.CronJob{cached}) {
		return controller.Result{RequeueAfter: time.Second}, nil // its event comes earlier
	}
	jobs := c.jobs.By(cached.UID)
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return strings.Compare(a.Name, b.Name) })
	cj, err := c.settle(ctx, cached.DeepCopy(), jobs)
	if err != nil {
		return controller.Result{}, client.IgnoreNotFound(err)
	}
	wait, startErr := c.start(ctx, cj)
	if !equality.Semantic.DeepEqual(cached.Status, cj.Status) {
		made, err := c.all.API.Namespace(k.Namespace).UpdateStatus(ctx, cj)
		if err != nil {
			return controller.Result{}, client.IgnoreNotFound(err)
		}
		c.written.Wrote(k, made)
	}
	// Last, because an existing Job prevents its time from being served again until the status records it.
	if err := c.trim(ctx, cj, jobs); err != nil {
		return controller.Result{}, err
	}
	return controller.Result{RequeueAfter: wait}, startErr
}

// start creates the Job that is due, if any, and returns when to requeue.
func (c *cronJobs) start(ctx context.Context, cj *batchv1.CronJob) (wait time.Duration, err error) {
	if cj.DeletionTimestamp != nil {
		return 0, nil
	}
	if zone := cj.Spec.TimeZone; zone != nil {
		if _, err := time.LoadLocation(*zone); err != nil {
			c.rec.Event(cj, corev1.EventTypeWarning, "UnknownTimeZone", "invalid timeZone: %q: %s", *zone, err)
			return 0, nil
		}
	}
	if cj.Spec.Suspend != nil && *cj.Spec.Suspend {
		return 0, nil
	}
	if strings.Contains(cj.Spec.Schedule, "TZ") {
		c.rec.Event(cj, corev1.EventTypeWarning, "UnsupportedSchedule", "CRON_TZ or TZ used in schedule %q is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", cj.Spec.Schedule)
	}
	schedule, err := parse(cj)
	if err != nil {
		c.rec.Event(cj, corev1.EventTypeWarning, "UnparseableSchedule", "unparseable schedule: %q : %s", cj.Spec.Schedule, err)
		return 0, nil
	}
	now := time.Now()
	t, err := timesOf(cj, schedule, now)
	if err != nil {
		c.rec.Event(cj, corev1.EventTypeWarning, "InvalidSchedule", "invalid schedule: %s : %s", cj.Spec.Schedule, err)
		return 0, nil
	}
	if !t.next.IsZero() {
		wait = t.next.Sub(now) + 100*time.Millisecond
	}
	due := t.due
	if due.IsZero() {
		return wait, nil
	}
	if t.missed > tooMany {
		c.rec.Event(cj, corev1.EventTypeWarning, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	switch {
	case len(cj.Status.Active) == 0:
	case cj.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent:
		c.rec.Event(cj, corev1.EventTypeNormal, "JobAlreadyActive",
			"Not starting job because prior execution is running and concurrency policy is Forbid")
		return wait, nil
	case cj.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		if err := c.replace(ctx, cj); err != nil {
			return wait, err
		}
	}
	j, err := c.jobs.API.Namespace(cj.Namespace).Create(ctx, build(cj, due))
	switch {
	case podcontrol.NamespaceGoing(err):
		return 0, nil
	case apierrors.IsAlreadyExists(err):
		if j, err = c.jobs.API.Namespace(cj.Namespace).Get(ctx, jobName(cj, due)); err != nil {
			return wait, err
		}
		if !metav1.IsControlledBy(j, cj) {
			return wait, nil // the name is taken; this time is skipped
		}
	case err != nil:
		c.rec.Event(cj, corev1.EventTypeWarning, "FailedCreate", "Error creating job: %v", err)
		return wait, err
	default:
		c.rec.Event(cj, corev1.EventTypeNormal, "SuccessfulCreate", "Created job %v", j.Name)
	}
	cj.Status.LastScheduleTime = &metav1.Time{Time: due}
	if endOf(j) == nil && !isActive(cj, j.UID) {
		cj.Status.Active = append(cj.Status.Active, refTo(j))
	}
	return wait, nil
}
