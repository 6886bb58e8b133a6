package statefulset

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claimName returns the name of the claim that a pod of the set has for a template.
func claimName(set *appsv1.StatefulSet, template string, ordinal int) string {
	return template + "-" + podName(set, ordinal)
}

// ownsClaim reports whether a claim of that name could be one of the set's.
func ownsClaim(set *appsv1.StatefulSet, name string) bool {
	for i := range set.Spec.VolumeClaimTemplates {
		if strings.HasPrefix(name, set.Spec.VolumeClaimTemplates[i].Name+"-"+set.Name+"-") {
			return true
		}
	}
	return false
}

// volumes returns the set's claims followed by a template's volumes, of which those with the same name are dropped.
func volumes(set *appsv1.StatefulSet, own []corev1.Volume, ordinal int) []corev1.Volume {
	templates := set.Spec.VolumeClaimTemplates
	all := make([]corev1.Volume, 0, len(templates)+len(own))
	claimed := make(map[string]bool, len(templates))
	for i := range templates {
		name := templates[i].Name
		claimed[name] = true
		all = append(all, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(set, name, ordinal)},
		}})
	}
	for i := range own {
		if !claimed[own[i].Name] {
			all = append(all, own[i])
		}
	}
	return all
}

// hasVolumes reports whether the pod uses the set's claims.
func hasVolumes(set *appsv1.StatefulSet, p *corev1.Pod, ordinal int) bool {
	uses := make(map[string]string, len(p.Spec.Volumes))
	for i := range p.Spec.Volumes {
		if c := p.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			uses[p.Spec.Volumes[i].Name] = c.ClaimName
		}
	}
	for i := range set.Spec.VolumeClaimTemplates {
		name := set.Spec.VolumeClaimTemplates[i].Name
		if uses[name] != claimName(set, name, ordinal) {
			return false
		}
	}
	return true
}

// makeClaims creates the missing claims of an ordinal. A claim that is to be deleted with the set has its owner
// from its creation: if the set were deleted before the owner was set, or is gone already, the claim would never be
// collected.
func (p *pass) makeClaims(ordinal int) error {
	var errs []error
	for i := range p.set.Spec.VolumeClaimTemplates {
		t := &p.set.Spec.VolumeClaimTemplates[i]
		name := claimName(p.set, t.Name, ordinal)
		if have, ok := p.c.claims.Store().Get(p.set.Namespace, name); ok {
			if have.DeletionTimestamp != nil {
				errs = append(errs, fmt.Errorf("pvc %s is being deleted", name))
			}
			continue
		}
		claim := t.DeepCopy()
		claim.Name, claim.Namespace = name, p.set.Namespace
		if claim.Labels == nil {
			claim.Labels = make(map[string]string)
		}
		maps.Copy(claim.Labels, p.set.Spec.Selector.MatchLabels)
		if set, _ := (retention{set: p.set, condemned: !p.inRange(ordinal)}).wanted(); set && metav1.GetControllerOfNoCopy(claim) == nil {
			claim.OwnerReferences = append(claim.OwnerReferences, *metav1.NewControllerRef(p.set, kind))
		}
		_, err := p.c.claims.API.Namespace(claim.Namespace).Create(p.ctx, claim)
		switch {
		case err == nil:
			p.c.rec.Event(p.set, corev1.EventTypeNormal, "SuccessfulCreate",
				"Create Claim %s Pod %s in StatefulSet %s success", name, podName(p.set, ordinal), p.set.Name)
		case !apierrors.IsAlreadyExists(err): // it exists, and the cache is behind
			p.c.rec.Event(p.set, corev1.EventTypeWarning, "FailedCreate",
				"Create Claim %s for Pod %s in StatefulSet %s failed error: %s", name, podName(p.set, ordinal), p.set.Name, err)
			errs = append(errs, fmt.Errorf("failed to create PVC %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// eachClaim calls f with the claims of an ordinal that exist.
func (p *pass) eachClaim(ordinal int, f func(*corev1.PersistentVolumeClaim) error) error {
	for i := range p.set.Spec.VolumeClaimTemplates {
		name := claimName(p.set, p.set.Spec.VolumeClaimTemplates[i].Name, ordinal)
		if claim, ok := p.c.claims.Store().Get(p.set.Namespace, name); ok {
			if err := f(claim); err != nil {
				return err
			}
		}
	}
	return nil
}
