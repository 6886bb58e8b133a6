package resourceclaim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// syncPod creates the claims that a pod lacks and records them in its status, with those that its group has.
func (c *claimer) syncPod(ctx context.Context, p *corev1.Pod) (controller.Result, error) {
	if p.DeletionTimestamp != nil || done(p) || len(p.Spec.ResourceClaims) == 0 {
		return controller.Result{}, nil
	}
	g, ok := c.groupOf(p)
	if !ok {
		return controller.Result{}, nil // the event of the group brings the pod back
	}
	h := c.podHolder(p)
	if h.isBehind() {
		return controller.Result{RequeueAfter: time.Second}, nil // its event comes earlier
	}
	var statuses []corev1.PodResourceClaimStatus
	changed := false
	for i := range p.Spec.ResourceClaims {
		of := &p.Spec.ResourceClaims[i]
		recorded, _, err := resourceclaim.Name(p, of)
		name, needed, err := known(recorded, err)
		switch {
		case err != nil:
			return controller.Result{}, err
		case of.ResourceClaimTemplateName == nil || !needed:
			continue
		case name == "" || !c.has(p, name):
			made, err := c.provideOrFind(ctx, p, g, of, &h)
			if err != nil {
				c.rec.Event(p, corev1.EventTypeWarning, "FailedResourceClaimCreation", "PodResourceClaim %s: %v", of.Name, err)
				return controller.Result{}, fmt.Errorf("PodResourceClaim %s: %w", of.Name, err)
			}
			if made != nil {
				name, changed = made.Name, changed || made.Name != name
			}
		}
		if name != "" {
			statuses = append(statuses, corev1.PodResourceClaimStatus{Name: of.Name, ResourceClaimName: ptr.To(name)})
		}
	}
	if changed {
		slices.SortFunc(statuses, func(a, b corev1.PodResourceClaimStatus) int { return cmp.Compare(a.Name, b.Name) })
		_, err := c.pods.API.Namespace(p.Namespace).Patch(ctx, p.Name, client.ApplyPatch(map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": p.Name, "namespace": p.Namespace, "uid": p.UID},
			"status": map[string]any{"resourceClaimStatuses": statuses},
		}).On("status"), metav1.PatchOptions{FieldManager: manager, Force: ptr.To(true)})
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return controller.Result{}, err // the event of this write brings the pod back
	}
	return controller.Result{}, c.reserve(ctx, p, g)
}

// has reports whether the claim of that name exists and was created for the pod, or its group.
func (c *claimer) has(p *corev1.Pod, name string) bool {
	o, ok := c.claims.Store().Get(p.Namespace, name)
	return ok && resourceclaim.IsForPod(p, o, c.options.GroupClaims) == nil
}

// provideOrFind returns the claim for one of a pod's entries with a template. That of the group is nil until it has been
// created; then its event brings the pod back.
func (c *claimer) provideOrFind(ctx context.Context, p *corev1.Pod, g *schedulingv1beta1.PodGroup, of *corev1.PodResourceClaim, h *holder) (*resourcev1.ResourceClaim, error) {
	switch user, err := resourceclaim.BindTo(p, g, of); {
	case err != nil:
		return nil, err
	case !isGroup(user):
		return c.provide(ctx, h, of.Name, *of.ResourceClaimTemplateName)
	case !c.options.GroupClaims:
		return nil, fmt.Errorf("claim %s is a PodGroup claim but the DRAWorkloadResourceClaims feature is disabled", of.Name)
	}
	ofGroup := c.groupHolder(g)
	return ofGroup.made(of.Name), nil
}

// reserve reserves the allocated claims of a pod that was bound without the scheduler, for it or its group.
func (c *claimer) reserve(ctx context.Context, p *corev1.Pod, g *schedulingv1beta1.PodGroup) error {
	if p.Spec.NodeName == "" {
		return nil
	}
	for i := range p.Spec.ResourceClaims {
		of := &p.Spec.ResourceClaims[i]
		name, own, err := resourceclaim.Name(p, of)
		if err != nil || name == nil || own && !c.has(p, *name) {
			continue
		}
		o, ok := c.claims.Store().Get(p.Namespace, *name)
		if !ok || o.Status.Allocation == nil || resourceclaim.IsReservedForPod(p, o, c.options.GroupClaims) ||
			len(o.Status.ReservedFor) >= resourcev1.ResourceClaimReservedForMaxSize {
			continue
		}
		user, err := resourceclaim.BindTo(p, g, of)
		if err != nil {
			return err
		}
		if isGroup(user) && !c.options.GroupClaims {
			continue
		}
		o = o.DeepCopy()
		o.Status.ReservedFor = append(o.Status.ReservedFor, user)
		if _, err := c.claims.API.Namespace(p.Namespace).UpdateStatus(ctx, o); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
