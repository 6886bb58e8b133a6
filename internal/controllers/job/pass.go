package job

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

// pass is one reconciliation of one Job, on one goroutine: its working copy and findings.
type pass struct {
	c    *jobs
	ctx  context.Context
	k    controller.Key
	job  *batchv1.Job      // our copy; its status becomes the one to be written
	was  batchv1.JobStatus // as last read or written
	now  time.Time
	wait time.Duration // until the next pass without an event; zero for never

	group string // name of the PodGroup of new pods; "" without one

	pods, active              []*corev1.Pod
	ready, running            int32 // of the active ones
	terminating               int32
	succeeded, failed         int32
	uncountedOK, uncountedBad map[types.UID]struct{}
	released                  map[types.UID]struct{}
	row                       failures

	before, done, lost intervals           // Indexed: succeeded as counted, and with the new ones; failed for good
	delayed            map[int]*corev1.Pod // by index: the failed pod that carries the index's failure count

	end *batchv1.JobCondition // SuccessCriteriaMet or FailureTarget, once either holds
}

func newPass(c *jobs, ctx context.Context, k controller.Key, j *batchv1.Job, pods []*corev1.Pod, released map[types.UID]struct{}) *pass {
	p := &pass{c: c, ctx: ctx, k: k, job: j, was: *j.Status.DeepCopy(), now: time.Now(), pods: pods, released: released}
	if j.Status.UncountedTerminatedPods == nil {
		j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	p.active = podcontrol.Active(pods)
	p.running = int32(len(p.active))
	p.terminating = int32(len(podcontrol.Terminating(pods)))
	for _, pod := range p.active {
		if podcontrol.IsReady(pod) {
			p.ready++
		}
	}
	p.uncountedOK = setOf(j.Status.UncountedTerminatedPods.Succeeded)
	p.uncountedBad = setOf(j.Status.UncountedTerminatedPods.Failed)
	return p
}

func setOf(uids []types.UID) map[types.UID]struct{} {
	s := make(map[types.UID]struct{}, len(uids))
	for _, u := range uids {
		s[u] = struct{}{}
	}
	return s
}

// run does the pass. settled reports whether the cache has all pods created and deleted before.
func (p *pass) run(settled bool) (controller.Result, error) {
	j := p.job
	if j.Status.StartTime == nil && !isSuspended(j) {
		j.Status.StartTime = &metav1.Time{Time: p.now}
	}
	p.countEnded()
	p.judgeFailure()
	if isIndexed(j) {
		p.judgeIndexes()
	}
	var manageErr error
	if p.end != nil {
		manageErr = p.endActive(settled)
	} else {
		manageErr = p.keepGoing(settled)
	}
	j.Status.Active = p.running
	j.Status.Ready = &p.ready
	j.Status.Terminating = &p.terminating
	if err := p.track(); err != nil {
		return controller.Result{}, client.IgnoreNotFound(err)
	}
	return controller.Result{RequeueAfter: p.wait}, manageErr
}

// countEnded adds up the pods that have succeeded and failed, counted or not.
func (p *pass) countEnded() {
	ok := p.fresh(p.uncountedOK, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodSucceeded })
	bad := p.fresh(p.uncountedBad, func(pod *corev1.Pod) bool { return hasFailed(pod, p.job) })
	p.succeeded = p.job.Status.Succeeded + int32(len(ok)+len(p.uncountedOK))
	p.failed = p.job.Status.Failed + int32(len(p.uncountedBad))
	for _, pod := range bad {
		if judge(p.job, pod).counts {
			p.failed++
		}
	}
	p.row = p.c.backoffs.of(p.k).after(ok, bad)
}

// fresh returns the pods that are still tracked, not in the uncounted lists, belong to an index if necessary, and
// pass the filter.
func (p *pass) fresh(noted map[types.UID]struct{}, filter func(*corev1.Pod) bool) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range p.pods {
		if !p.tracked(pod) || !p.hasIndex(pod) {
			continue
		}
		if _, ok := noted[pod.UID]; !ok && filter(pod) {
			out = append(out, pod)
		}
	}
	return out
}

// tracked reports whether the pod bears the finalizer and we have not removed it.
func (p *pass) tracked(pod *corev1.Pod) bool {
	_, gone := p.released[pod.UID]
	return isTracked(pod) && !gone
}

// judgeFailure determines whether the Job has failed, or is known to have finished.
func (p *pass) judgeFailure() {
	j := p.job
	if c := trueCondition(j, batchv1.JobSuccessCriteriaMet); c != nil {
		p.end = c.DeepCopy()
		return
	}
	if c := trueCondition(j, batchv1.JobFailureTarget); c != nil {
		p.end = c.DeepCopy()
		return
	}
	if j.Spec.PodFailurePolicy != nil {
		for _, pod := range p.pods {
			if hasFailed(pod, j) {
				if why := judge(j, pod).failJob; why != "" {
					p.end = failing(batchv1.JobReasonPodFailurePolicy, why)
					return
				}
			}
		}
	}
	switch deadline := j.Spec.ActiveDeadlineSeconds; {
	case p.failed > backoffLimit(j) || p.restartedTooOften():
		p.end = failing(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	case deadline != nil && !isSuspended(j) && j.Status.StartTime != nil:
		left := j.Status.StartTime.Add(time.Duration(*deadline) * time.Second).Sub(p.now)
		if left <= 0 {
			p.end = failing(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
			return
		}
		p.comeBack(left)
	}
}

// restartedTooOften counts container restarts as failures, for pods with restartPolicy OnFailure.
func (p *pass) restartedTooOften() bool {
	j := p.job
	if j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	n := int32(0)
	for _, pod := range p.pods {
		if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, s := range pod.Status.InitContainerStatuses {
			n += s.RestartCount
		}
		for _, s := range pod.Status.ContainerStatuses {
			n += s.RestartCount
		}
	}
	return n > 0 && n >= backoffLimit(j)
}

func (p *pass) comeBack(after time.Duration) {
	if p.wait == 0 || after < p.wait {
		p.wait = max(after, time.Millisecond)
	}
}

// flush writes the status if it differs from the server's.
func (p *pass) flush() error {
	if equality.Semantic.DeepEqual(p.was, p.job.Status) {
		return nil
	}
	written, err := p.c.all.API.Namespace(p.k.Namespace).UpdateStatus(p.ctx, p.job)
	if err != nil {
		return err
	}
	p.c.written.Wrote(p.k, written)
	p.was = *p.job.Status.DeepCopy()
	p.job.ResourceVersion = written.ResourceVersion
	return nil
}
