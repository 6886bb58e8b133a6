package job

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/controller"
	"fairlead.dev/internal/condition"
)

const (
	firstPause = 10 * time.Second
	maxPause   = 10 * time.Minute
)

// failures is a series of failures without a success in between.
type failures struct {
	count int
	last  time.Time
}

// pause returns how long the next attempt has to wait.
func (f failures) pause(now time.Time) time.Duration {
	if f.count == 0 {
		return 0
	}
	d := firstPause
	for i := 1; i < f.count && d < maxPause; i++ {
		d *= 2
	}
	return max(0, min(d, maxPause)-now.Sub(f.last))
}

// after returns the series after more pods have finished.
func (f failures) after(succeeded, failed []*corev1.Pod) failures {
	if len(succeeded) > 0 {
		last := endOf(slices.MaxFunc(succeeded, byEnd))
		f = failures{}
		failed = slices.DeleteFunc(slices.Clone(failed), func(p *corev1.Pod) bool { return !endOf(p).After(last) })
	}
	if len(failed) > 0 {
		f.count += len(failed)
		f.last = endOf(slices.MaxFunc(failed, byEnd))
	}
	return f
}

func byEnd(a, b *corev1.Pod) int { return endOf(a).Compare(endOf(b)) }

// endOf returns when a pod finished, by the best available source. Sidecars finish last; other init containers do
// not count.
func endOf(p *corev1.Pod) time.Time {
	var end time.Time
	told := true
	note := func(s *corev1.ContainerStatus) {
		if t := s.State.Terminated; t == nil || t.FinishedAt.IsZero() {
			told = false
		} else if t.FinishedAt.After(end) {
			end = t.FinishedAt.Time
		}
	}
	for i := range p.Status.ContainerStatuses {
		note(&p.Status.ContainerStatuses[i])
	}
	for i := range p.Status.InitContainerStatuses {
		if s := &p.Status.InitContainerStatuses[i]; isSidecar(p, s.Name) {
			note(s)
		}
	}
	if told && !end.IsZero() {
		return end
	}
	if c := condition.OfPod(&p.Status, corev1.PodReady); c != nil && c.Status == corev1.ConditionFalse && !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	if p.DeletionTimestamp != nil {
		grace := time.Duration(0)
		if p.DeletionGracePeriodSeconds != nil {
			grace = time.Duration(*p.DeletionGracePeriodSeconds) * time.Second
		}
		return p.DeletionTimestamp.Add(-grace)
	}
	return p.CreationTimestamp.Time
}

func isSidecar(p *corev1.Pod, init string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == init && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// backoffs holds the series of failures of each Job.
type backoffs struct {
	mu struct {
		sync.Mutex
		rows map[controller.Key]failures
	}
}

func (b *backoffs) of(k controller.Key) failures {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.rows[k]
}

func (b *backoffs) set(k controller.Key, f failures) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.rows == nil {
		b.mu.rows = make(map[controller.Key]failures)
	}
	b.mu.rows[k] = f
}

func (b *backoffs) forget(k controller.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.mu.rows, k)
}
