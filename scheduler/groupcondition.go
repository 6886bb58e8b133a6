package scheduler

import (
	"context"
	"sync"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/workqueue"
)

// groupWriter writes the condition PodGroupInitiallyScheduled of pod groups, of each only the latest.
type groupWriter struct {
	groups client.Resource[*schedulingv1beta1.PodGroup]
	queue  *workqueue.Queue[types.UID]
	mu     struct {
		sync.Mutex
		latest map[types.UID]groupCondition
		// scheduled are the groups whose condition has been set to true, until they are seen with it.
		scheduled map[types.UID]struct{}
	}
}

// groupCondition is a condition of a version of a group.
type groupCondition struct {
	group     *schedulingv1beta1.PodGroup
	condition metav1.Condition
}

func newGroupWriter(groups client.Resource[*schedulingv1beta1.PodGroup]) *groupWriter {
	w := &groupWriter{groups: groups, queue: workqueue.New(workqueue.Options[types.UID]{Name: "scheduler-groups"})}
	w.mu.latest, w.mu.scheduled = map[types.UID]groupCondition{}, map[types.UID]struct{}{}
	return w
}

// set queues a condition. One that is true stays so, although pods of the group may come and go.
func (w *groupWriter) set(g *schedulingv1beta1.PodGroup, status metav1.ConditionStatus, reason, message string) {
	const kind = schedulingv1beta1.PodGroupInitiallyScheduled
	if apimeta.IsStatusConditionTrue(g.Status.Conditions, kind) {
		w.forget(g.UID)
		if status != metav1.ConditionTrue {
			return
		}
	}
	conditions := append([]metav1.Condition(nil), g.Status.Conditions...)
	changed := apimeta.SetStatusCondition(&conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: g.Generation,
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	_, scheduled := w.mu.scheduled[g.UID]
	if _, queued := w.mu.latest[g.UID]; scheduled && status != metav1.ConditionTrue || !changed && !queued {
		return
	}
	if status == metav1.ConditionTrue {
		w.mu.scheduled[g.UID] = struct{}{}
	}
	w.mu.latest[g.UID] = groupCondition{g, *apimeta.FindStatusCondition(conditions, kind)}
	w.queue.Add(g.UID)
}

// forget ends the memory of a group that is deleted, or has been seen with its last condition.
func (w *groupWriter) forget(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.mu.scheduled, uid)
}

func (w *groupWriter) run(ctx context.Context) {
	for uid := range w.queue.Work(ctx) {
		w.mu.Lock()
		c, known := w.mu.latest[uid]
		delete(w.mu.latest, uid)
		w.mu.Unlock()
		if known {
			w.write(ctx, uid, c)
		}
	}
}

// write patches the condition. A deleted group needs no condition; any other error is retried unless a newer condition is queued.
func (w *groupWriter) write(ctx context.Context, uid types.UID, c groupCondition) {
	_, err := w.groups.Namespace(c.group.Namespace).Patch(ctx, c.group.Name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{"uid": uid},
		"status":   map[string]any{"conditions": []metav1.Condition{c.condition}},
	}).On("status"))
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) || ctx.Err() != nil {
		w.queue.Forget(uid)
		return
	}
	w.mu.Lock()
	if _, newer := w.mu.latest[uid]; !newer {
		w.mu.latest[uid] = c
	}
	w.mu.Unlock()
	w.queue.Retry(uid)
}
