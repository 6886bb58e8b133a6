package statefulset

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// retention determines the owner of a claim so that the garbage collector deletes it at the right time: the set,
// the pod (one that is being scaled down), or neither.
type retention struct {
	set       *appsv1.StatefulSet
	pod       *corev1.Pod
	condemned bool // the pod's ordinal is out of the set's range
}

func (r retention) policy() appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	if p := r.set.Spec.PersistentVolumeClaimRetentionPolicy; p != nil {
		return *p
	}
	return appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
}

// wanted reports which of the two should own the claim.
func (r retention) wanted() (set, pod bool) {
	p := r.policy()
	pod = p.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType && r.condemned
	set = p.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType && !pod
	return set, pod
}

// settled reports whether the claim's owners need no change. A claim that refers to an earlier set or pod of the
// same name is left alone.
func (r retention) settled(claim *corev1.PersistentVolumeClaim) bool {
	if stale(claim, r.set, kind) || stale(claim, r.pod, podKind) {
		return true
	}
	set, pod := owns(claim, r.set), owns(claim, r.pod)
	if r.contested(claim) {
		return !set && !pod
	}
	for _, ref := range claim.OwnerReferences {
		if (ref.UID == r.set.UID || ref.UID == r.pod.UID) && !isController(ref) {
			return false
		}
	}
	wantSet, wantPod := r.wanted()
	return set == wantSet && pod == wantPod
}

// contested reports whether another controller owns a claim whose deletion the policy is to decide; then the policy
// is not applied to it.
func (r retention) contested(claim *corev1.PersistentVolumeClaim) bool {
	const retain = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	if p := r.policy(); p.WhenScaled == retain && p.WhenDeleted == retain {
		return false
	}
	return slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		switch {
		case names(ref, r.set, kind):
			return ref.UID != r.set.UID
		case names(ref, r.pod, podKind):
			return ref.UID != r.pod.UID
		}
		return isController(ref)
	})
}

// owners returns the owner references that the claim should have.
func (r retention) owners(claim *corev1.PersistentVolumeClaim) []metav1.OwnerReference {
	refs := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(ref metav1.OwnerReference) bool {
		return names(ref, r.set, kind) || names(ref, r.pod, podKind)
	})
	if r.contested(claim) {
		return refs
	}
	set, pod := r.wanted()
	if set {
		refs = append(refs, *metav1.NewControllerRef(r.set, kind))
	}
	if pod {
		refs = append(refs, *metav1.NewControllerRef(r.pod, podKind))
	}
	return refs
}

// retain updates the owners of the pod's claims to the policy, and records events about obstacles.
func (p *pass) retain(pod *corev1.Pod, ordinal int) error {
	r := retention{set: p.set, pod: pod, condemned: !p.inRange(ordinal)}
	err := p.eachClaim(ordinal, func(claim *corev1.PersistentVolumeClaim) error {
		if r.contested(claim) {
			p.c.rec.Event(p.set, corev1.EventTypeWarning, "ConflictingController",
				"PersistentVolumeClaim %s has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim", claim.Name)
		}
		if r.settled(claim) {
			return nil
		}
		changed := claim.DeepCopy()
		changed.OwnerReferences = r.owners(claim)
		_, err := p.c.claims.API.Namespace(claim.Namespace).Update(p.ctx, changed)
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("could not update claim %s for delete policy ownerRefs: %w", claim.Name, err)
	})
	if err != nil && !apierrors.IsConflict(err) {
		p.tell("Update", pod, err)
	}
	return err
}

// waitsForClaims reports whether a claim of the ordinal belongs to an earlier pod that was scaled down: it is about
// to be deleted, and a new pod must not use it.
func (p *pass) waitsForClaims(pod *corev1.Pod, ordinal int) bool {
	r := retention{set: p.set, pod: pod}
	if r.policy().WhenScaled == appsv1.RetainPersistentVolumeClaimRetentionPolicyType {
		return false
	}
	waits := false
	_ = p.eachClaim(ordinal, func(claim *corev1.PersistentVolumeClaim) error {
		waits = waits || stale(claim, pod, podKind)
		return nil
	})
	return waits
}

func names(ref metav1.OwnerReference, o client.Object, gvk schema.GroupVersionKind) bool {
	return ref.APIVersion == gvk.GroupVersion().String() && ref.Kind == gvk.Kind && ref.Name == o.GetName()
}

func stale(claim *corev1.PersistentVolumeClaim, o client.Object, gvk schema.GroupVersionKind) bool {
	i := slices.IndexFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return names(ref, o, gvk) })
	return i >= 0 && claim.OwnerReferences[i].UID != o.GetUID()
}

func owns(claim *corev1.PersistentVolumeClaim, o client.Object) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == o.GetUID() })
}

func isController(ref metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }
