package replicas

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

// manage creates or deletes the difference between the desired and the actual number, at most burst pods; meeting
// the expectations causes the next pass.
func (e *engine[T]) manage(ctx context.Context, k controller.Key, o T, v View, active []*corev1.Pod) error {
	switch diff := v.Replicas - len(active); {
	case diff > 0:
		return e.grow(ctx, k, o, v, min(diff, burst))
	case diff < 0:
		return e.shrink(ctx, k, o, active, min(-diff, burst))
	}
	return nil
}

func (e *engine[T]) grow(ctx context.Context, k controller.Key, o T, v View, n int) error {
	e.expected.ExpectCreates(k, n)
	made, err := podcontrol.SlowStart(n, func(int) error {
		return e.control.Create(ctx, o, podcontrol.FromTemplate(v.Template, o, e.kind.GVK))
	})
	// Failed and skipped creates will not be seen.
	for range n - made {
		e.expected.Created(k)
	}
	if podcontrol.NamespaceGoing(err) {
		e.going.Store(k, o.GetUID())
		return nil
	}
	return err
}

func (e *engine[T]) shrink(ctx context.Context, k controller.Key, o T, active []*corev1.Pod, n int) error {
	victims := podcontrol.Surplus(active, e.related(o, active), n, time.Now())
	e.expected.ExpectDeletes(k, uids(victims)...)
	_, err := podcontrol.Parallel(len(victims), func(i int) error {
		err := e.control.Delete(ctx, o, victims[i])
		if err != nil {
			e.expected.Deleted(k, victims[i].UID)
		}
		return client.IgnoreNotFound(err)
	})
	return err
}

// related returns the pods considered for spreading: those of all objects with the same controlling owner, which
// for a Deployment are all its revisions.
func (e *engine[T]) related(o T, active []*corev1.Pod) []*corev1.Pod {
	ref := metav1.GetControllerOfNoCopy(o)
	if ref == nil {
		return active
	}
	var all []*corev1.Pod
	for _, sibling := range e.sets.By(ref.UID) {
		all = append(all, e.pods.By(sibling.GetUID())...)
	}
	return all
}

func uids(pods []*corev1.Pod) []types.UID {
	ids := make([]types.UID, len(pods))
	for i, p := range pods {
		ids[i] = p.UID
	}
	return ids
}
