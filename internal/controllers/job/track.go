package job

import (
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/controllers/podcontrol"
)

// maxUncounted limits the pods counted by one pass, and with that the size of the status.
const maxUncounted = 500

// track counts the finished pods as the package comment describes, and writes the status, including the Job's final
// condition once everything is counted.
func (p *pass) track() error {
	s := &p.job.Status
	holding := make(map[types.UID]struct{})
	for _, pod := range p.pods {
		if p.tracked(pod) {
			holding[pod.UID] = struct{}{}
		}
	}
	settleUncounted(s, holding)
	toRelease, full := p.note()
	p.tellEnd()
	if err := p.flush(); err != nil {
		return err
	}
	p.c.backoffs.set(p.k, p.row)

	err := p.release(toRelease, holding)
	settleUncounted(s, holding)
	finished := err == nil && !full && p.finish()
	if flushErr := p.flush(); flushErr != nil {
		return errors.Join(err, flushErr)
	}
	if finished {
		p.tellFinished()
	}
	return err
}

// note adds finished pods to the status and returns those whose finalizer may be removed; full reports that there
// are more.
func (p *pass) note() (toRelease []*corev1.Pod, full bool) {
	j := p.job
	uncounted := j.Status.UncountedTerminatedPods
	pods := p.pods
	if isIndexed(j) {
		pods = slices.Clone(pods)
		slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return indexOf(a) - indexOf(b) })
	}
	var indexes []int
	for _, pod := range pods {
		if !p.tracked(pod) || !p.mayRelease(pod) {
			continue
		}
		toRelease = append(toRelease, pod)
		_, ok := p.uncountedOK[pod.UID]
		_, bad := p.uncountedBad[pod.UID]
		switch {
		case pod.Status.Phase == corev1.PodSucceeded && !bad:
			if isIndexed(j) {
				if p.hasIndex(pod) && !p.before.has(indexOf(pod)) {
					indexes = append(indexes, indexOf(pod))
				}
			} else if !ok {
				uncounted.Succeeded = append(uncounted.Succeeded, pod.UID)
			}
		case hasFailed(pod, j) || p.end != nil && p.end.Type == batchv1.JobFailureTarget:
			if !bad && p.hasIndex(pod) && judge(j, pod).counts {
				uncounted.Failed = append(uncounted.Failed, pod.UID)
			}
		}
		if len(indexes)+len(uncounted.Succeeded)+len(uncounted.Failed) >= maxUncounted {
			full = true
			break
		}
	}
	if isIndexed(j) {
		done := p.before.with(indexes...)
		j.Status.Succeeded = int32(done.count())
		j.Status.CompletedIndexes = done.String()
		if limitPerIndex(j) {
			lost := p.lost.String()
			j.Status.FailedIndexes = &lost
		}
	}
	return toRelease, full
}

// mayRelease reports whether the pod no longer needs tracking.
func (p *pass) mayRelease(pod *corev1.Pod) bool {
	if p.job.DeletionTimestamp != nil || p.end != nil || pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	if !hasFailed(pod, p.job) {
		return false
	}
	last := p.delayed[indexOf(pod)]
	return last == nil || last.UID != pod.UID
}

// release removes the finalizers.
func (p *pass) release(pods []*corev1.Pod, holding map[types.UID]struct{}) error {
	gone := make([]bool, len(pods))
	for _, pod := range pods {
		p.c.released.expect(p.k, pod.UID)
	}
	_, err := podcontrol.Parallel(len(pods), func(i int) error {
		if err := p.c.untrack(p.ctx, pods[i]); err != nil {
			p.c.released.observed(p.k, pods[i].UID)
			return err
		}
		gone[i] = true
		return nil
	})
	for i, pod := range pods {
		if gone[i] {
			delete(holding, pod.UID)
			if _, ok := p.c.pods.Store().Get(pod.Namespace, pod.Name); !ok {
				p.c.released.observed(p.k, pod.UID) // its event arrived first
			}
		}
	}
	return err
}

// settleUncounted moves the UIDs of pods without the finalizer from the lists to the counters.
func settleUncounted(s *batchv1.JobStatus, holding map[types.UID]struct{}) {
	move := func(list []types.UID, counter *int32) []types.UID {
		return slices.DeleteFunc(list, func(u types.UID) bool {
			_, held := holding[u]
			if !held {
				*counter++
			}
			return !held
		})
	}
	u := s.UncountedTerminatedPods
	u.Succeeded = move(u.Succeeded, &s.Succeeded)
	u.Failed = move(u.Failed, &s.Failed)
}

// tellEnd adds the condition that announces the end.
func (p *pass) tellEnd() {
	if p.end != nil && trueCondition(p.job, p.end.Type) == nil {
		p.job.Status.Conditions = append(p.job.Status.Conditions, *p.end)
	}
}

// finish adds the final condition if all pods are counted and no pod is terminating.
func (p *pass) finish() bool {
	s := &p.job.Status
	u := s.UncountedTerminatedPods
	if p.end == nil || len(u.Succeeded)+len(u.Failed) > 0 || p.terminating > 0 {
		return false
	}
	t := batchv1.JobFailed
	if p.end.Type == batchv1.JobSuccessCriteriaMet {
		t = batchv1.JobComplete
	}
	ensure(s, t, corev1.ConditionTrue, p.end.Reason, p.end.Message)
	if t == batchv1.JobComplete {
		s.CompletionTime = &trueCondition(p.job, t).LastTransitionTime
	}
	return true
}

func (p *pass) tellFinished() {
	j := p.job
	if p.end.Type != batchv1.JobSuccessCriteriaMet {
		p.c.rec.Event(j, corev1.EventTypeWarning, p.end.Reason, "%s", p.end.Message)
		return
	}
	if j.Spec.Completions != nil && j.Status.Succeeded > *j.Spec.Completions {
		p.c.rec.Event(j, corev1.EventTypeWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached")
	}
	p.c.rec.Event(j, corev1.EventTypeNormal, "Completed", "Job completed")
}
