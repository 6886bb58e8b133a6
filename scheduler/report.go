package scheduler

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/scheduler/metrics"
	"fairlead.dev/workqueue"
)

// conditionWriter writes the condition PodScheduled of pods without a node. It keeps and writes
// only the latest condition of each pod, so the number of pods bounds it.
type conditionWriter struct {
	pods    client.Resource[*corev1.Pod]
	metrics *metrics.Metrics
	queue   *workqueue.Queue[types.UID]
	mu      struct {
		sync.Mutex
		latest  map[types.UID]condition
		writing map[types.UID]chan struct{} // closed when the write is done
	}
}

type condition struct {
	pod             *corev1.Pod
	reason, message string
	nominee         string
}

func newReports(pods client.Resource[*corev1.Pod], m *metrics.Metrics) *conditionWriter {
	r := &conditionWriter{pods: pods, metrics: m, queue: workqueue.New(workqueue.Options[types.UID]{Name: "scheduler-reports"})}
	r.mu.latest = map[types.UID]condition{}
	r.mu.writing = map[types.UID]chan struct{}{}
	return r
}

// add queues a condition, unless the pod has it already.
func (r *conditionWriter) add(pod *corev1.Pod, reason, message, nominee string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse &&
			c.Reason == reason && c.Message == message && pod.Status.NominatedNodeName == nominee {
			return
		}
	}
	r.mu.Lock()
	r.mu.latest[pod.UID] = condition{pod, reason, message, nominee}
	r.mu.Unlock()
	r.queue.Add(pod.UID)
}

// cancel makes sure that no further condition of a pod is written: it drops a queued one and waits
// for a write in progress. A pod is bound after that, so that a late condition does not contradict
// the binding.
func (r *conditionWriter) cancel(ctx context.Context, uid types.UID) {
	r.mu.Lock()
	delete(r.mu.latest, uid)
	writing := r.mu.writing[uid]
	r.mu.Unlock()
	if writing == nil {
		return
	}
	select {
	case <-writing:
	case <-ctx.Done():
	}
	r.mu.Lock()
	delete(r.mu.latest, uid) // a failed write may have queued its condition again
	r.mu.Unlock()
}

// unwritten returns the number of pods whose conditions wait to be written or are being written.
func (r *conditionWriter) unwritten() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.mu.latest) + len(r.mu.writing)
}

// writing returns a channel that is closed when a write in progress for a pod is done; nil if there is none.
func (r *conditionWriter) writing(uid types.UID) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of := r.mu.writing[uid]; of != nil {
		return of
	}
	return nil
}

func (r *conditionWriter) run(ctx context.Context) {
	for uid := range r.queue.Work(ctx) {
		r.mu.Lock()
		rep, known := r.mu.latest[uid]
		done := make(chan struct{})
		if known {
			delete(r.mu.latest, uid)
			r.mu.writing[uid] = done
		}
		r.mu.Unlock()
		if known {
			r.write(ctx, uid, rep)
			r.mu.Lock()
			delete(r.mu.writing, uid)
			r.mu.Unlock()
			close(done)
		} else {
			r.queue.Forget(uid)
		}
	}
}

// write patches the condition. A deleted pod needs no condition; any other error is retried unless a newer
// condition is queued.
func (r *conditionWriter) write(ctx context.Context, uid types.UID, rep condition) {
	now := metav1.Now()
	condition := map[string]any{
		"type":               corev1.PodScheduled,
		"status":             corev1.ConditionFalse,
		"reason":             rep.reason,
		"message":            rep.message,
		"observedGeneration": rep.pod.Generation,
	}
	if !isScheduledFalse(rep.pod) {
		condition["lastTransitionTime"] = now
	}
	status := map[string]any{"conditions": []any{condition}}
	if rep.nominee != "" {
		status["nominatedNodeName"] = rep.nominee
	} else if rep.pod.Status.NominatedNodeName != "" {
		status["nominatedNodeName"] = nil
	}
	var err error
	start := time.Now()
	_ = traced(ctx, r.pods, rep.pod, func(ctx context.Context) error {
		_, err = r.pods.Namespace(rep.pod.Namespace).Patch(ctx, rep.pod.Name, client.StrategicPatch(map[string]any{
			"metadata": map[string]any{"uid": uid},
			"status":   status,
		}).On("status"))
		return errors.New(rep.message) // the trace shows this as the result of the attempt
	})
	r.metrics.Called(metrics.PodStatusPatch, err, start)
	if err == nil {
		r.queue.Forget(uid)
		return
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) || ctx.Err() != nil {
		r.queue.Forget(uid) // deleted, replaced, or invalid
		return
	}
	r.mu.Lock()
	if _, newer := r.mu.latest[uid]; !newer {
		r.mu.latest[uid] = rep
	}
	r.mu.Unlock()
	r.queue.Retry(uid)
}

func isScheduledFalse(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}
