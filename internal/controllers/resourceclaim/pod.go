package resourceclaim

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

const (
	// manager is the field manager of pods' claim statuses.
	manager = "ResourceClaimController"
	// maxGenerated is the maximum length of a generated name before its random suffix.
	maxGenerated = 57
)

// syncPod creates the claims that a pod lacks and records them in its status.
func (c *claimer) syncPod(ctx context.Context, p *corev1.Pod) (controller.Result, error) {
	k := controller.KeyOf(p)
	if p.DeletionTimestamp != nil || done(p) || len(p.Spec.ResourceClaims) == 0 {
		return controller.Result{}, nil
	}
	own := c.claims.Store().ByIndex(byPod, k.String())
	if podcontrol.Behind(&c.written, k, own) {
		return controller.Result{RequeueAfter: time.Second}, nil // its event comes earlier
	}
	var statuses []corev1.PodResourceClaimStatus
	changed := false
	for i := range p.Spec.ResourceClaims {
		of := &p.Spec.ResourceClaims[i]
		name, known := nameOf(p, of)
		switch {
		case of.ResourceClaimTemplateName == nil, known && name == "":
			continue
		case !known || !c.has(p, name):
			made, err := c.provide(ctx, p, of, own)
			if err != nil {
				c.rec.Event(p, corev1.EventTypeWarning, "FailedResourceClaimCreation", "PodResourceClaim %s: %v", of.Name, err)
				return controller.Result{}, fmt.Errorf("PodResourceClaim %s: %w", of.Name, err)
			}
			name, changed = made.Name, changed || made.Name != name
		}
		statuses = append(statuses, corev1.PodResourceClaimStatus{Name: of.Name, ResourceClaimName: ptr.To(name)})
	}
	if changed {
		_, err := c.pods.API.Namespace(p.Namespace).Patch(ctx, p.Name, client.ApplyPatch(map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": p.Name, "namespace": p.Namespace, "uid": p.UID},
			"status": map[string]any{"resourceClaimStatuses": statuses},
		}).On("status"), metav1.PatchOptions{FieldManager: manager, Force: ptr.To(true)})
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return controller.Result{}, err // the event of this write brings the pod back
	}
	return controller.Result{}, c.reserve(ctx, p)
}

// has reports whether the pod's own claim of that name exists.
func (c *claimer) has(p *corev1.Pod, name string) bool {
	o, ok := c.claims.Store().Get(p.Namespace, name)
	return ok && metav1.IsControlledBy(o, p)
}

// provide returns the claim for one of a pod's claim entries, creating it if necessary.
func (c *claimer) provide(ctx context.Context, p *corev1.Pod, of *corev1.PodResourceClaim, own []*resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	for _, o := range own {
		if metav1.IsControlledBy(o, p) && o.Annotations[resourcev1.PodResourceClaimAnnotation] == of.Name {
			return o, nil
		}
	}
	t, ok := c.templates.Store().Get(p.Namespace, *of.ResourceClaimTemplateName)
	if !ok {
		return nil, fmt.Errorf("resource claim template %q: %w", *of.ResourceClaimTemplateName,
			apierrors.NewNotFound(resourcev1.Resource("resourceclaimtemplate"), *of.ResourceClaimTemplateName))
	}
	annotations := map[string]string{resourcev1.PodResourceClaimAnnotation: of.Name}
	for a, v := range t.Spec.Annotations {
		if a != resourcev1.PodResourceClaimAnnotation {
			annotations[a] = v
		}
	}
	made, err := c.claims.API.Namespace(p.Namespace).Create(ctx, &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: prefix(p.Name, of.Name), Namespace: p.Namespace, Labels: maps.Clone(t.Spec.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: ptr.To(true)}},
		},
		Spec: *t.Spec.Spec.DeepCopy(),
	})
	if err != nil {
		return nil, fmt.Errorf("create ResourceClaim : %w", err)
	}
	c.written.Wrote(controller.KeyOf(p), made)
	return made, nil
}

// prefix returns the prefix of the generated name of a pod's claim; if it is too long, both names are truncated in
// proportion.
func prefix(pod, claim string) string {
	whole := pod + "-" + claim + "-"
	if n := len(whole); n > maxGenerated {
		return pod[:len(pod)*maxGenerated/n] + "-" + claim[:len(claim)*maxGenerated/n]
	}
	return whole
}

// reserve reserves the allocated claims of a pod that was bound without the scheduler.
func (c *claimer) reserve(ctx context.Context, p *corev1.Pod) error {
	if p.Spec.NodeName == "" {
		return nil
	}
	for i := range p.Spec.ResourceClaims {
		name, _ := nameOf(p, &p.Spec.ResourceClaims[i])
		o, ok := c.claims.Store().Get(p.Namespace, name)
		if !ok || o.Status.Allocation == nil || reserved(o, p) || len(o.Status.ReservedFor) >= resourcev1.ResourceClaimReservedForMaxSize {
			continue
		}
		o = o.DeepCopy()
		o.Status.ReservedFor = append(o.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: p.Name, UID: p.UID})
		if _, err := c.claims.API.Namespace(p.Namespace).UpdateStatus(ctx, o); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func reserved(o *resourcev1.ResourceClaim, p *corev1.Pod) bool {
	for _, r := range o.Status.ReservedFor {
		if r.UID == p.UID {
			return true
		}
	}
	return false
}
