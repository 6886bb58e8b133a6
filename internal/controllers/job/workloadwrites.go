package job

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// createWorkload makes a Job's Workload. If there is one of the name already, which the cache does not have yet, the error
// repeats the pass.
func (w *workloads) createWorkload(ctx context.Context, j *batchv1.Job) (*schedulingv1beta1.Workload, error) {
	made, err := w.all.API.Namespace(j.Namespace).Create(ctx, &schedulingv1beta1.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Name:            workloadName(j),
			Namespace:       j.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(j, kind)},
		},
		Spec: schedulingv1beta1.WorkloadSpec{
			ControllerRef:     &schedulingv1beta1.TypedLocalObjectReference{APIGroup: kind.Group, Kind: kind.Kind, Name: j.Name},
			PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{templateOf(j)},
		},
	})
	if err != nil {
		w.rec.Event(j, corev1.EventTypeWarning, "FailedWorkloadCreate", "Failed to create Workload for Job %s: %v", j.Name, err)
		return nil, err
	}
	w.rec.Event(j, corev1.EventTypeNormal, "WorkloadCreated", "Created Workload %s for Job %s", made.Name, j.Name)
	return made, nil
}

// createGroup makes a Job's PodGroup from a template of a Workload. The Job is its controller, beside the other owners.
func (w *workloads) createGroup(ctx context.Context, j *batchv1.Job, of *schedulingv1beta1.Workload, t *schedulingv1beta1.PodGroupTemplate, owners ...metav1.OwnerReference) (*schedulingv1beta1.PodGroup, error) {
	made, err := w.groups.API.Namespace(j.Namespace).Create(ctx, &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Name:            groupName(of.Name, t.Name),
			Namespace:       j.Namespace,
			OwnerReferences: append([]metav1.OwnerReference{*metav1.NewControllerRef(j, kind)}, owners...),
		},
		Spec: schedulingv1beta1.PodGroupSpec{
			WorkloadRef:           &schedulingv1beta1.WorkloadReference{WorkloadName: of.Name, TemplateName: t.Name},
			SchedulingPolicy:      t.SchedulingPolicy,
			SchedulingConstraints: t.SchedulingConstraints,
			ResourceClaims:        t.ResourceClaims,
			DisruptionMode:        t.DisruptionMode,
			PriorityClassName:     t.PriorityClassName,
			Priority:              t.Priority,
		},
	})
	if err != nil {
		return nil, err
	}
	w.rec.Event(j, corev1.EventTypeNormal, "PodGroupCreated", "Created PodGroup %s for Job %s", made.Name, j.Name)
	return made, nil
}

// resizeWorkload sets the minCount of the gang in a Workload with one template, unless it is basic.
func (w *workloads) resizeWorkload(ctx context.Context, of *schedulingv1beta1.Workload, minCount int32) error {
	if gang := of.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang; gang == nil || gang.MinCount == minCount {
		return nil
	}
	resized := of.DeepCopy()
	resized.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount = minCount
	_, err := w.all.API.Namespace(of.Namespace).Patch(ctx, of.Name, client.MergeFrom(of, resized))
	return err
}

// resizeGroup sets the minCount of a group, which may be nil, unless it is basic.
func (w *workloads) resizeGroup(ctx context.Context, g *schedulingv1beta1.PodGroup, minCount int32) error {
	if g == nil || g.Spec.SchedulingPolicy.Gang == nil || g.Spec.SchedulingPolicy.Gang.MinCount == minCount {
		return nil
	}
	resized := g.DeepCopy()
	resized.Spec.SchedulingPolicy.Gang.MinCount = minCount
	_, err := w.groups.API.Namespace(g.Namespace).Patch(ctx, g.Name, client.MergeFrom(g, resized))
	return err
}
