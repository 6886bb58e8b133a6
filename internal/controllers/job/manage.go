package job

import (
	"context"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
)

// endActive deletes the running pods when the Job has finished. Unless all could be deleted, the final condition
// waits.
func (p *pass) endActive(settled bool) error {
	gone, err := p.delete(p.active, p.c.control.Delete)
	if gone != len(p.active) || !settled {
		p.end = nil
	}
	return err
}

// keepGoing brings the number of pods to the desired one, and detects completion.
func (p *pass) keepGoing(settled bool) error {
	j := p.job
	managed := settled && j.DeletionTimestamp == nil
	var err error
	if managed {
		err = p.manage()
	}
	complete := p.succeeded > 0
	if j.Spec.Completions != nil {
		complete = p.succeeded >= *j.Spec.Completions
	}
	if complete && p.running == 0 {
		p.end = newCondition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, batchv1.JobReasonCompletionsReached,
			"Reached expected number of succeeded pods")
	} else if managed {
		p.noteSuspension()
	}
	return err
}

// noteSuspension records when the Job is suspended or resumed; its start time is then reset.
func (p *pass) noteSuspension() {
	j := p.job
	if isSuspended(j) {
		if ensure(&j.Status, batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended") {
			p.c.rec.Event(j, corev1.EventTypeNormal, "Suspended", "Job suspended")
			j.Status.StartTime = nil
		}
		return
	}
	if ensure(&j.Status, batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed") {
		p.c.rec.Event(j, corev1.EventTypeNormal, "Resumed", "Job resumed")
		j.Status.StartTime = &metav1.Time{Time: p.now}
	}
}

func (p *pass) manage() error {
	j := p.job
	if isSuspended(j) {
		return p.shrink(p.surplus(len(p.active)))
	}
	wanted := p.wanted()
	if rm := p.surplus(int(max(0, p.running-wanted))); len(rm) > 0 {
		return p.shrink(rm[:min(len(rm), perPass)])
	}
	n := wanted - p.running
	if waitsForFailed(j) {
		n -= p.terminating
	}
	if n <= 0 {
		return nil
	}
	if !limitPerIndex(j) {
		if d := p.row.pause(p.now); d > 0 {
			p.comeBack(d)
			return nil
		}
	}
	return p.grow(int(min(n, perPass)))
}

// wanted returns the desired number of active pods.
func (p *pass) wanted() int32 {
	j := p.job
	if j.Spec.Completions != nil {
		return max(0, min(*j.Spec.Completions-p.succeeded, parallelism(j)))
	}
	if p.succeeded > 0 {
		return p.running // one has succeeded: no new ones, and the others run to their end
	}
	return parallelism(j)
}

// shrink deletes surplus pods. They are not failures: their finalizer is removed first, so that they are not
// counted.
func (p *pass) shrink(pods []*corev1.Pod) error {
	uids := make([]types.UID, len(pods))
	for i, pod := range pods {
		uids[i] = pod.UID
	}
	p.c.expected.ExpectDeletes(p.k, uids...)
	_, err := p.delete(pods, func(ctx context.Context, owner client.Object, pod *corev1.Pod) error {
		var err error
		if isTracked(pod) {
			err = p.c.untrack(ctx, pod)
		}
		if err == nil {
			err = p.c.control.Delete(ctx, owner, pod)
		}
		if err != nil {
			p.c.expected.Deleted(p.k, pod.UID)
		}
		return err
	})
	return err
}

// delete deletes pods and subtracts them from the counts.
func (p *pass) delete(pods []*corev1.Pod, del func(context.Context, client.Object, *corev1.Pod) error) (gone int, err error) {
	var ready, ended atomic.Int32
	_, err = podcontrol.Parallel(len(pods), func(i int) error {
		err := del(p.ctx, p.job, pods[i])
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		ended.Add(1)
		if podcontrol.IsReady(pods[i]) {
			ready.Add(1)
		}
		return nil
	})
	p.running -= ended.Load()
	p.terminating += ended.Load()
	p.ready -= ready.Load()
	return int(ended.Load()), err
}

// grow creates n pods, for an Indexed Job one for each of the next indexes that may be tried now.
func (p *pass) grow(n int) error {
	var indexes []int
	if isIndexed(p.job) {
		indexes = p.mayTry(p.pending(n))
		n = len(indexes)
	}
	if n == 0 {
		return nil
	}
	template := p.template()
	p.c.expected.ExpectCreates(p.k, n)
	made, err := podcontrol.SlowStart(n, func(i int) error {
		pod := podcontrol.FromTemplate(template, p.job, kind)
		if isIndexed(p.job) {
			p.index(pod, indexes[i])
		}
		return p.c.control.Create(p.ctx, p.job, pod)
	})
	for range n - made {
		p.c.expected.Created(p.k)
	}
	p.running += int32(made)
	if podcontrol.NamespaceGoing(err) {
		return nil
	}
	return err
}

// mayTry returns the indexes whose backoff is over.
func (p *pass) mayTry(indexes []int) []int {
	if !limitPerIndex(p.job) {
		return indexes
	}
	var now []int
	for _, n := range indexes {
		last := p.delayed[n]
		if last == nil {
			now = append(now, n)
			continue
		}
		if d := (failures{count: int(attempts(last)) + 1, last: endOf(last)}).pause(p.now); d > 0 {
			p.comeBack(d)
		} else {
			now = append(now, n)
		}
	}
	return now
}
