package resourceclaim

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// byGroup is the index of pods with claims by their group.
const byGroup = "pod group of a pod with claims"

// followGroups makes the pods with claims wait for their groups. If these may have claims, it returns the loop that creates
// them.
func (c *claimer) followGroups() controller.Runners {
	c.pods.Index(byGroup, func(p *corev1.Pod) []string {
		if name := groupName(p); name != "" && len(p.Spec.ResourceClaims) > 0 {
			return []string{controller.Key{Namespace: p.Namespace, Name: name}.String()}
		}
		return nil
	})
	c.podLoop.Watch(controller.Watches(c.groups, func(g *schedulingv1beta1.PodGroup) []controller.Key {
		return c.members(controller.KeyOf(g))
	}).If(func(old, g *schedulingv1beta1.PodGroup) bool {
		return old.UID != g.UID || !equality.Semantic.DeepEqual(old.Status.ResourceClaimStatuses, g.Status.ResourceClaimStatuses)
	}))
	if !c.options.GroupClaims {
		return nil
	}
	c.groups.Index(byTemplate, func(g *schedulingv1beta1.PodGroup) (keys []string) {
		for i := range g.Spec.ResourceClaims {
			if t := g.Spec.ResourceClaims[i].ResourceClaimTemplateName; t != nil {
				keys = append(keys, controller.Key{Namespace: g.Namespace, Name: *t}.String())
			}
		}
		return keys
	})
	c.claimLoop.Watch(controller.Watches(c.groups, claimsOfGroup).On(controller.Deleted))
	loop := controller.New("resourceclaim-groups", controller.ByObject(c.groups, c.syncGroup, c.written[groupKind].Forget), controller.Options{})
	loop.Watch(
		controller.For(c.groups),
		controller.Watches(c.claims, func(o *resourcev1.ResourceClaim) []controller.Key {
			if by := ownerOf(o); by.kind == groupKind {
				return []controller.Key{by.Key}
			}
			return nil
		}),
		controller.Watches(c.templates, func(t *resourcev1.ResourceClaimTemplate) (keys []controller.Key) {
			for _, g := range c.groups.Store().ByIndex(byTemplate, controller.KeyOf(t).String()) {
				keys = append(keys, controller.KeyOf(g))
			}
			return keys
		}),
	)
	return controller.Runners{loop}
}

// syncGroup creates the claims that a group lacks and records them in its status.
func (c *claimer) syncGroup(ctx context.Context, g *schedulingv1beta1.PodGroup) (controller.Result, error) {
	if g.DeletionTimestamp != nil || len(g.Spec.ResourceClaims) == 0 {
		return controller.Result{}, nil
	}
	h := c.groupHolder(g)
	if h.isBehind() {
		return controller.Result{RequeueAfter: time.Second}, nil // its event comes earlier
	}
	var statuses []schedulingv1beta1.PodGroupResourceClaimStatus
	changed := false
	for i := range g.Spec.ResourceClaims {
		of := &g.Spec.ResourceClaims[i]
		recorded, _, err := resourceclaim.NameFromPodGroup(g, of)
		name, needed, err := known(recorded, err)
		switch {
		case err != nil:
			return controller.Result{}, err
		case of.ResourceClaimTemplateName == nil || !needed:
			continue
		case name == "" || !c.groupHas(g, name):
			made, err := c.provide(ctx, &h, of.Name, *of.ResourceClaimTemplateName)
			if err != nil {
				c.rec.Event(g, corev1.EventTypeWarning, "FailedResourceClaimCreation", "PodGroupResourceClaim %s: %v", of.Name, err)
				return controller.Result{}, fmt.Errorf("PodGroupResourceClaim %s: %w", of.Name, err)
			}
			name, changed = made.Name, changed || made.Name != name
		}
		statuses = append(statuses, schedulingv1beta1.PodGroupResourceClaimStatus{Name: of.Name, ResourceClaimName: ptr.To(name)})
	}
	if !changed {
		return controller.Result{}, nil
	}
	_, err := c.groups.API.Namespace(g.Namespace).Patch(ctx, g.Name, client.ApplyPatch(map[string]any{
		"apiVersion": schedulingv1beta1.SchemeGroupVersion.String(), "kind": groupKind,
		"metadata": map[string]any{"name": g.Name, "namespace": g.Namespace, "uid": g.UID},
		"status":   map[string]any{"resourceClaimStatuses": statuses},
	}).On("status"), metav1.PatchOptions{FieldManager: manager, Force: ptr.To(true)})
	return controller.Result{}, client.IgnoreNotFound(err)
}

// groupHas reports whether the claim of that name exists and was created for the group.
func (c *claimer) groupHas(g *schedulingv1beta1.PodGroup, name string) bool {
	o, ok := c.claims.Store().Get(g.Namespace, name)
	return ok && resourceclaim.IsForPodGroup(g, o) == nil
}

// groupOf returns the group of a pod; nil for a pod without one. ok is false if the group is not there yet.
func (c *claimer) groupOf(p *corev1.Pod) (g *schedulingv1beta1.PodGroup, ok bool) {
	name := groupName(p)
	if name == "" || !c.options.Groups {
		return nil, true
	}
	return c.groups.Store().Get(p.Namespace, name)
}

func groupName(p *corev1.Pod) string {
	if g := p.Spec.SchedulingGroup; g != nil {
		return ptr.Deref(g.PodGroupName, "")
	}
	return ""
}

// members returns the keys of a group's pods that have claims.
func (c *claimer) members(group controller.Key) (keys []controller.Key) {
	for _, p := range c.pods.Store().ByIndex(byGroup, group.String()) {
		keys = append(keys, controller.KeyOf(p))
	}
	return keys
}

// claimsOfGroup returns the keys of the claims that a group has or names.
func claimsOfGroup(g *schedulingv1beta1.PodGroup) (keys []controller.Key) {
	for i := range g.Spec.ResourceClaims {
		if name, _, err := resourceclaim.NameFromPodGroup(g, &g.Spec.ResourceClaims[i]); err == nil && name != nil {
			keys = append(keys, controller.Key{Namespace: g.Namespace, Name: *name})
		}
	}
	return keys
}

// isGroup reports whether a claim is used by a group.
func isGroup(user resourcev1.ResourceClaimConsumerReference) bool {
	return user.APIGroup == schedulingv1beta1.GroupName && user.Resource == "podgroups"
}
