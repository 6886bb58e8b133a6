package job

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controllers/podcontrol"
)

const noIndex = -1

// indexOf returns the completion index of a pod.
func indexOf(pod *corev1.Pod) int {
	n, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || n < 0 {
		return noIndex
	}
	return n
}

func (p *pass) completions() int { return int(ptr.Deref(p.job.Spec.Completions, 1)) }

// hasIndex reports whether the pod's index counts; for a Job without indexes every pod does.
func (p *pass) hasIndex(pod *corev1.Pod) bool {
	if !isIndexed(p.job) {
		return true
	}
	n := indexOf(pod)
	return n != noIndex && n < p.completions()
}

// judgeIndexes determines which indexes have succeeded or failed, and the consequences for the Job.
func (p *pass) judgeIndexes() {
	j := p.job
	p.before = parseIntervals(j.Status.CompletedIndexes, p.completions())
	p.done = p.before
	for _, pod := range p.pods {
		if pod.Status.Phase == corev1.PodSucceeded && isTracked(pod) && p.hasIndex(pod) {
			p.done = p.done.with(indexOf(pod))
		}
	}
	p.succeeded = int32(p.done.count())
	if limitPerIndex(j) {
		p.judgeLostIndexes()
		p.delayDeletions()
	}
	if p.end == nil {
		if why, met := enough(j, p.done); met {
			p.end = newCondition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, batchv1.JobReasonSuccessPolicy, why)
		}
	}
}

func (p *pass) judgeLostIndexes() {
	j := p.job
	p.lost = intervals{}
	if s := j.Status.FailedIndexes; s != nil {
		p.lost = p.lost.union(parseIntervals(*s, p.completions()))
	}
	for _, pod := range p.pods {
		if isTracked(pod) && p.hasIndex(pod) && hasFailed(pod, j) {
			v := judge(j, pod)
			if v.failIndex || v.counts && countOf(pod, batchv1.JobIndexFailureCountAnnotation) >= *j.Spec.BackoffLimitPerIndex {
				p.lost = p.lost.with(indexOf(pod))
			}
		}
	}
	n := p.lost.count()
	switch {
	case p.end != nil || n == 0:
	case j.Spec.MaxFailedIndexes != nil && n > int(*j.Spec.MaxFailedIndexes):
		p.end = failing(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	case n+p.done.count() >= p.completions():
		p.end = failing(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	}
}

// delayDeletions picks, for each index to be retried, the failed pod to keep until its successor exists: the one
// with most failures, the latest of equals.
func (p *pass) delayDeletions() {
	busy := indexesOf(p.active)
	p.delayed = make(map[int]*corev1.Pod)
	for _, pod := range p.fresh(nil, func(pod *corev1.Pod) bool { return hasFailed(pod, p.job) }) {
		n := indexOf(pod)
		if p.done.has(n) || p.lost.has(n) || busy.has(n) {
			continue
		}
		if last := p.delayed[n]; last == nil || attempts(last) <= attempts(pod) && !endOf(pod).Before(endOf(last)) {
			p.delayed[n] = pod
		}
	}
}

func indexesOf(pods []*corev1.Pod) intervals {
	var all []int
	for _, pod := range pods {
		if n := indexOf(pod); n != noIndex {
			all = append(all, n)
		}
	}
	return intervals(nil).with(all...)
}

// pending returns the first indexes, n at most, that need a pod.
func (p *pass) pending(n int) []int {
	taken := p.done.union(indexesOf(p.active)).union(p.lost)
	if waitsForFailed(p.job) {
		taken = taken.union(indexesOf(podcontrol.Terminating(p.pods)))
	}
	return taken.missing(n, p.completions())
}

func countOf(pod *corev1.Pod, annotation string) int32 {
	n, err := strconv.ParseInt(pod.Annotations[annotation], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// attempts returns the number of earlier failures of a pod's index, for any reason.
func attempts(pod *corev1.Pod) int32 {
	return countOf(pod, batchv1.JobIndexFailureCountAnnotation) + countOf(pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// surplus picks the active pods to delete, n at least: all with an invalid or duplicate index, and then the most
// expendable.
func (p *pass) surplus(n int) []*corev1.Pod {
	if !isIndexed(p.job) {
		return podcontrol.Surplus(p.active, nil, n, p.now)
	}
	var rm, left []*corev1.Pod
	byIndex := make(map[int][]*corev1.Pod)
	for _, pod := range p.active {
		if p.hasIndex(pod) {
			byIndex[indexOf(pod)] = append(byIndex[indexOf(pod)], pod)
		} else {
			rm = append(rm, pod)
		}
	}
	for _, same := range byIndex {
		extra := podcontrol.Surplus(same, nil, len(same)-1, p.now)
		rm = append(rm, extra...)
		for _, pod := range same {
			if !slices.Contains(extra, pod) {
				left = append(left, pod)
			}
		}
	}
	return append(rm, podcontrol.Surplus(left, nil, n-len(rm), p.now)...)
}
