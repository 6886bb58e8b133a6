// Package podgroupprotection protects pod groups that pods refer to: a group has the finalizer
// scheduling.k8s.io/podgroup-protection from its creation (admission plugin PodGroupProtection). It is removed when the group
// is terminating and all pods that refer to it have ended.
//
// Before the finalizer is removed, the server is asked for the pods of the namespace, because the informer may be behind.
package podgroupprotection

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"fairlead.dev/controller"
)

const (
	finalizer = "scheduling.k8s.io/podgroup-protection"
	byGroup   = "pod group"
)

type protector struct {
	groups controller.Objects[*schedulingv1beta1.PodGroup]
	pods   controller.Objects[*corev1.Pod]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	p := &protector{
		groups: controller.ObjectsOf[*schedulingv1beta1.PodGroup](env),
		pods:   controller.ObjectsOf[*corev1.Pod](env),
	}
	p.pods.Index(byGroup, func(pod *corev1.Pod) []string {
		if name := groupOf(pod); name != "" {
			return []string{pod.Namespace + "/" + name}
		}
		return nil
	})
	return controller.New("podgroupprotection", controller.ByObject(p.groups, p.reconcile), controller.Options{}).Watch(
		controller.For(p.groups),
		controller.Watches(p.pods, p.terminatingGroup).On(controller.Updated, controller.Deleted).If(
			func(old, pod *corev1.Pod) bool { return ended(pod) && !ended(old) }),
	)
}

// terminatingGroup returns the key of the pod's group, if that is terminating.
func (p *protector) terminatingGroup(pod *corev1.Pod) []controller.Key {
	if name := groupOf(pod); name != "" {
		if g, ok := p.groups.Store().Get(pod.Namespace, name); ok && g.DeletionTimestamp != nil {
			return []controller.Key{controller.KeyOf(g)}
		}
	}
	return nil
}

func (p *protector) reconcile(ctx context.Context, g *schedulingv1beta1.PodGroup) (controller.Result, error) {
	if !slices.Contains(g.Finalizers, finalizer) || g.DeletionTimestamp == nil {
		return controller.Result{}, nil // this controller adds no finalizers
	}
	return controller.Protect(ctx, p.groups.API, g, finalizer, func() (bool, error) { return p.used(ctx, g) })
}

// used reports whether a pod that has not ended refers to the group.
func (p *protector) used(ctx context.Context, g *schedulingv1beta1.PodGroup) (bool, error) {
	uses := func(pod *corev1.Pod) bool { return groupOf(pod) == g.Name && !ended(pod) }
	if slices.ContainsFunc(p.pods.Store().ByIndex(byGroup, g.Namespace+"/"+g.Name), uses) {
		return true, nil
	}
	list, err := p.pods.API.Namespace(g.Namespace).List(ctx)
	return slices.ContainsFunc(list.Items, uses), err
}

// groupOf returns the name of a pod's group; "" without one.
func groupOf(pod *corev1.Pod) string {
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return *g.PodGroupName
	}
	return ""
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
