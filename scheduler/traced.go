package scheduler

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/trace"
)

// traced runs f and records in the trace that the cause is the pod's last seen version.
func traced(ctx context.Context, pods client.Resource[*corev1.Pod], pod *corev1.Pod, f func(context.Context) error) error {
	w := &trace.Reconcile{Controller: pod.Spec.SchedulerName, Key: pod.Namespace + "/" + pod.Name, Causes: []int64{trace.Revision(pod.ResourceVersion)}}
	return pods.Trace().Do(ctx, w, f)
}
