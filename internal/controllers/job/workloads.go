package job

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// Indexes: of Workloads by their controllerRef, of PodGroups by their Workload.
const (
	byController = "controller of a workload"
	byWorkload   = "workload of a pod group"
)

// templateAnnotation of a Job that has a controller names the template in the controller's Workload from which the Job's
// PodGroup is made.
const templateAnnotation = schedulingv1beta1.GroupName + "/group-template-name"

// workloads makes Workloads and PodGroups for Jobs, whose pods then belong to the PodGroup. It is nil without the feature gate
// WorkloadWithJob.
//
// Both objects are made only before a Job starts, so that all pods of a Job are in one group, or no pod is. They
// are found again by their owner references. A Job keeps the objects while it is suspended; the garbage collector deletes them
// with it.
type workloads struct {
	all    controller.Objects[*schedulingv1beta1.Workload]
	groups controller.Objects[*schedulingv1beta1.PodGroup]
	rec    *client.Recorder
	log    *slog.Logger
}

// newWorkloads returns workloads whose stores the loop reads.
func newWorkloads(env controller.Env, rec *client.Recorder, loop *controller.Controller) *workloads {
	w := &workloads{
		all:    controller.ObjectsOf[*schedulingv1beta1.Workload](env),
		groups: controller.ObjectsOf[*schedulingv1beta1.PodGroup](env),
		rec:    rec,
		log:    env.Log,
	}
	w.all.Index(byController, func(of *schedulingv1beta1.Workload) []string {
		if ref := of.Spec.ControllerRef; ref != nil && ref.Name != "" {
			return []string{controllerKey(of.Namespace, ref.APIGroup, ref.Kind, ref.Name)}
		}
		return nil
	})
	w.groups.Index(byWorkload, func(g *schedulingv1beta1.PodGroup) []string {
		if ref := g.Spec.WorkloadRef; ref != nil && ref.WorkloadName != "" {
			return []string{controller.Key{Namespace: g.Namespace, Name: ref.WorkloadName}.String()}
		}
		return nil
	})
	loop.Watch(controller.Reads(w.all), controller.Reads(w.groups))
	return w
}

func controllerKey(namespace, group, kind, name string) string {
	return namespace + "/" + group + "/" + kind + "/" + name
}

// groupFor returns the name of the PodGroup for a Job's new pods, "" for pods without one. It makes the group if the Job may
// have one and has never started.
func (w *workloads) groupFor(ctx context.Context, j *batchv1.Job, pods []*corev1.Pod) (string, error) {
	if w == nil || j.Spec.Template.Spec.SchedulingGroup != nil { // the user has made a group
		return "", nil
	}
	var group *schedulingv1beta1.PodGroup
	var err error
	if owner := metav1.GetControllerOfNoCopy(j); owner == nil {
		group, err = w.ownGroup(ctx, j, isNew(j, pods))
	} else if template, delegated := j.Annotations[templateAnnotation]; delegated {
		group, err = w.delegatedGroup(ctx, j, owner, template, isNew(j, pods))
	}
	if err != nil {
		return "", fmt.Errorf("ensuring Workload and PodGroup for Job %s/%s: %w", j.Namespace, j.Name, err)
	}
	if group == nil {
		return "", nil
	}
	return group.Name, nil
}

// isNew reports whether a Job has never started. The start time alone does not tell: it is reset when the Job is suspended.
func isNew(j *batchv1.Job, pods []*corev1.Pod) bool {
	s := &j.Status
	return len(pods) == 0 && s.StartTime == nil && s.Succeeded == 0 && s.Failed == 0 &&
		!slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool { return c.Type == batchv1.JobSuspended })
}

// ownGroup returns the group of a Job without a controller, which has a Workload of its own; nil without a group.
func (w *workloads) ownGroup(ctx context.Context, j *batchv1.Job, isNew bool) (*schedulingv1beta1.PodGroup, error) {
	workload, err := w.ownWorkload(ctx, j, isNew)
	if workload == nil || err != nil {
		return nil, err
	}
	group, ambiguous := one(w, j, "PodGroups", "Workload "+workload.Name, w.groupsOf(workload))
	if group == nil && isNew && !ambiguous {
		owner := metav1.OwnerReference{
			APIVersion: schedulingv1beta1.SchemeGroupVersion.String(), Kind: "Workload", Name: workload.Name, UID: workload.UID,
		}
		if group, err = w.createGroup(ctx, j, workload, &workload.Spec.PodGroupTemplates[0], owner); err != nil {
			return nil, err
		}
	}
	if gang := templateOf(j).SchedulingPolicy.Gang; gang != nil {
		if err := w.resizeWorkload(ctx, workload, gang.MinCount); err != nil {
			return nil, err
		}
		return group, w.resizeGroup(ctx, group, gang.MinCount)
	}
	return group, nil
}

// ownWorkload returns the Workload of a Job without a controller; nil without one.
func (w *workloads) ownWorkload(ctx context.Context, j *batchv1.Job, isNew bool) (*schedulingv1beta1.Workload, error) {
	found := w.all.Store().ByIndex(byController, controllerKey(j.Namespace, kind.Group, kind.Kind, j.Name))
	workload, ambiguous := one(w, j, "Workloads", "Job "+j.Name, found)
	if workload == nil && isNew && !ambiguous {
		var err error
		if workload, err = w.createWorkload(ctx, j); err != nil {
			return nil, err
		}
	}
	if workload != nil && len(workload.Spec.PodGroupTemplates) != 1 {
		return nil, fmt.Errorf("workload %s/%s for job %s/%s has %d PodGroupTemplates, want exactly 1",
			workload.Namespace, workload.Name, j.Namespace, j.Name, len(workload.Spec.PodGroupTemplates))
	}
	return workload, nil
}

// delegatedGroup returns the group of a Job whose controller has a Workload and has left the group to the Job; nil if there is no
// such Workload or template.
func (w *workloads) delegatedGroup(ctx context.Context, j *batchv1.Job, owner *metav1.OwnerReference, template string, isNew bool) (*schedulingv1beta1.PodGroup, error) {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return nil, nil // no Workload can refer to such an owner
	}
	found := w.all.Store().ByIndex(byController, controllerKey(j.Namespace, gv.Group, owner.Kind, owner.Name))
	if len(found) == 0 {
		return nil, nil
	}
	workload := found[0]
	of := templateNamed(workload, template)
	if of == nil {
		return nil, nil
	}
	var group *schedulingv1beta1.PodGroup
	if mine := controlledBy(j, w.groupsOf(workload)); len(mine) > 0 {
		group = mine[0]
	} else if isNew {
		if group, err = w.createGroup(ctx, j, workload, of); err != nil {
			return nil, err
		}
	}
	if gang := of.SchedulingPolicy.Gang; gang != nil {
		return group, w.resizeGroup(ctx, group, gang.MinCount)
	}
	return group, nil
}

// templateNamed returns the template of a name in a Workload, or the first one for ""; nil without one.
func templateNamed(w *schedulingv1beta1.Workload, name string) *schedulingv1beta1.PodGroupTemplate {
	for i := range w.Spec.PodGroupTemplates {
		if t := &w.Spec.PodGroupTemplates[i]; name == "" || t.Name == name {
			return t
		}
	}
	return nil
}

func (w *workloads) groupsOf(of *schedulingv1beta1.Workload) []*schedulingv1beta1.PodGroup {
	return w.groups.Store().ByIndex(byWorkload, controller.KeyOf(of).String())
}

// one returns the object among those found that the Job controls; nil without one, or with several.
func one[T client.Object](w *workloads, j *batchv1.Job, what, referred string, found []T) (object T, ambiguous bool) {
	mine := controlledBy(j, found)
	switch len(mine) {
	case 0:
		return object, false
	case 1:
		return mine[0], false
	}
	w.log.Warn("the pods of a Job have no group: several objects could be its own", "controller", "job", "object", controller.KeyOf(j),
		"found", len(mine), "of", what, "referring to", referred)
	return object, true
}

func controlledBy[T client.Object](j *batchv1.Job, objects []T) (mine []T) {
	for _, o := range objects {
		if metav1.IsControlledBy(o, j) {
			mine = append(mine, o)
		}
	}
	return mine
}
