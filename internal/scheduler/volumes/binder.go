package volumes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"

	"fairlead.dev/internal/scheduler/bell"
	"fairlead.dev/internal/scheduler/cache"
)

// Binder binds volumes for the VolumeBinding plugin.
type Binder struct {
	claims  client.Resource[*corev1.PersistentVolumeClaim]
	volumes client.Resource[*corev1.PersistentVolume]
	objects cache.Objects
	bell    bell.Bell // rings when claims or volumes have changed
}

// NewBinder returns a binder that writes through c and reads from objects.
func NewBinder(c *client.Client, objects cache.Objects) *Binder {
	return &Binder{
		claims:  client.For[*corev1.PersistentVolumeClaim](c),
		volumes: client.For[*corev1.PersistentVolume](c),
		objects: objects,
	}
}

// Changed wakes the calls of BindVolumes to look at claims and volumes again.
func (o *Binder) Changed() { o.bell.Ring() }

// BindVolumes writes the choices, each conditional on the version that the choice was made on: the
// claim into the volume, or the node onto the claim. Then it waits until the volume controller has
// bound all claims. If a write fails, the earlier ones stay: the next attempt finds them and
// continues from there.
func (o *Binder) BindVolumes(ctx context.Context, node *corev1.Node, choices []cache.ClaimBinding) error {
	choices = slices.Clone(choices)
	for i := range choices {
		var err error
		if choice := &choices[i]; choice.Volume != nil {
			choice.Volume, err = o.claimVolume(ctx, choice.Claim, choice.Volume)
		} else {
			choice.Claim, err = o.selectNode(ctx, choice.Claim, node.Name)
		}
		if err != nil {
			return err
		}
	}
	for {
		changed := o.bell.Wait()
		bound, err := o.boundTo(node, choices)
		if err != nil {
			return fmt.Errorf("binding volumes: %w", err)
		} else if bound {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("binding volumes: %w", ctx.Err())
		}
	}
}

func (o *Binder) claimVolume(ctx context.Context, claim *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	if ref := pv.Spec.ClaimRef; ref != nil && ref.UID == claim.UID {
		return pv, nil
	}
	changed := pv.DeepCopy()
	if pv.Spec.ClaimRef == nil {
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, annBoundByController, "yes")
	}
	changed.Spec.ClaimRef = &corev1.ObjectReference{
		Kind: "PersistentVolumeClaim", APIVersion: "v1",
		Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
	}
	updated, err := o.volumes.Update(ctx, changed)
	if !apierrors.IsConflict(err) {
		return updated, err
	}
	// A pod that shares the claim may have been faster.
	if now, failed := o.volumes.Get(ctx, pv.Name); failed == nil && now.Spec.ClaimRef != nil && now.Spec.ClaimRef.UID == claim.UID {
		return now, nil
	}
	return nil, err
}

func (o *Binder) selectNode(ctx context.Context, claim *corev1.PersistentVolumeClaim, node string) (*corev1.PersistentVolumeClaim, error) {
	if claim.Annotations[AnnSelectedNode] == node {
		return claim, nil
	}
	changed := claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, AnnSelectedNode, node)
	claims := o.claims.Namespace(claim.Namespace)
	updated, err := claims.Update(ctx, changed)
	if !apierrors.IsConflict(err) {
		return updated, err
	}
	if now, failed := claims.Get(ctx, claim.Name); failed == nil && now.UID == claim.UID && now.Annotations[AnnSelectedNode] == node {
		return now, nil // see claimVolume
	}
	return nil, err
}

// boundTo reports whether all claims are bound to volumes that the node reaches. An error means
// that they will not be.
func (o *Binder) boundTo(node *corev1.Node, choices []cache.ClaimBinding) (bool, error) {
	for i := range choices {
		choice := &choices[i]
		claim, ok := o.objects.Claim(choice.Claim.Namespace, choice.Claim.Name)
		if !ok || claim.UID != choice.Claim.UID {
			return false, fmt.Errorf("failed to check binding: persistentvolumeclaim %q not found", choice.Claim.Name)
		}
		name := claim.Spec.VolumeName
		if choice.Volume != nil {
			name = choice.Volume.Name
		} else if isOlder(claim, choice.Claim) {
			return false, nil
		} else if claim.Annotations[AnnSelectedNode] != node.Name {
			return false, fmt.Errorf("provisioning failed for PVC %q", claim.Name)
		}
		if name != "" {
			pv, ok := o.objects.Volume(name)
			if !ok || choice.Volume != nil && isOlder(pv, choice.Volume) {
				return false, nil
			}
			if pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID == "" {
				return false, fmt.Errorf("ClaimRef got reset for pv %q", name)
			}
			rule, err := volumeNodeAffinity(pv)
			if err == nil && !rule.Matches(node) {
				err = errors.New("no matching NodeSelectorTerms")
			}
			if err != nil {
				return false, fmt.Errorf("pv %q node affinity doesn't match node %q: %w", name, node.Name, err)
			}
		}
		if !isBound(claim) {
			return false, nil
		}
	}
	return true, nil
}

// isOlder reports whether the cached object is older than the written one.
func isOlder(at, written metav1.Object) bool {
	a, errA := strconv.ParseUint(at.GetResourceVersion(), 10, 64)
	b, errB := strconv.ParseUint(written.GetResourceVersion(), 10, 64)
	return errA == nil && errB == nil && a < b
}
