package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BindVolumes writes the choices, each against the version that the choice was made on:
// the claim into the volume, or the node onto the claim. Then it waits until the
// controller of volumes has bound all claims. What was written stays written if another
// fails: the next attempt finds it and goes on from there.
func (o *objects) BindVolumes(ctx context.Context, node *corev1.Node, choices []volumeChoice) error {
	choices = slices.Clone(choices)
	for i := range choices {
		var err error
		if choice := &choices[i]; choice.pv != nil {
			choice.pv, err = o.takeVolume(ctx, choice.claim, choice.pv)
		} else {
			choice.claim, err = o.selectNode(ctx, choice.claim, node.Name)
		}
		if err != nil {
			return err
		}
	}
	for {
		changed := o.bell.wait()
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

func (o *objects) takeVolume(ctx context.Context, claim *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	if ref := pv.Spec.ClaimRef; ref != nil && ref.UID == claim.UID {
		return pv, nil
	}
	changed := pv.DeepCopy()
	if pv.Spec.ClaimRef == nil {
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, boundByUs, "yes")
	}
	changed.Spec.ClaimRef = &corev1.ObjectReference{
		Kind: "PersistentVolumeClaim", APIVersion: "v1",
		Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
	}
	return o.volumeAPI.Update(ctx, changed)
}

func (o *objects) selectNode(ctx context.Context, claim *corev1.PersistentVolumeClaim, node string) (*corev1.PersistentVolumeClaim, error) {
	if claim.Annotations[selectedNode] == node {
		return claim, nil
	}
	changed := claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, selectedNode, node)
	return o.claimAPI.Namespace(claim.Namespace).Update(ctx, changed)
}

// boundTo says whether all claims are bound to volumes that the node reaches; an error
// means that they won't be.
func (o *objects) boundTo(node *corev1.Node, choices []volumeChoice) (bool, error) {
	for i := range choices {
		choice := &choices[i]
		claim, ok := o.Claim(choice.claim.Namespace, choice.claim.Name)
		if !ok || claim.UID != choice.claim.UID {
			return false, fmt.Errorf("failed to check binding: persistentvolumeclaim %q not found", choice.claim.Name)
		}
		name := claim.Spec.VolumeName
		if choice.pv != nil {
			name = choice.pv.Name
		} else if older(claim, choice.claim) {
			return false, nil
		} else if claim.Annotations[selectedNode] != node.Name {
			return false, fmt.Errorf("provisioning failed for PVC %q", claim.Name)
		}
		if name != "" {
			pv, ok := o.Volume(name)
			if !ok || choice.pv != nil && older(pv, choice.pv) {
				return false, nil
			}
			if pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID == "" {
				return false, fmt.Errorf("ClaimRef got reset for pv %q", name)
			}
			rule, err := volumeRule(pv)
			if err == nil && !rule.matches(node) {
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

// older says whether what is at hand is from before a write.
func older(at, written metav1.Object) bool {
	a, errA := strconv.ParseUint(at.GetResourceVersion(), 10, 64)
	b, errB := strconv.ParseUint(written.GetResourceVersion(), 10, 64)
	return errA == nil && errB == nil && a < b
}

// bell wakes all who wait for a change.
type bell struct {
	mu struct {
		sync.Mutex
		next chan struct{} // nil: nobody waits
	}
}

// wait returns what is closed at the next change.
func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.next == nil {
		b.mu.next = make(chan struct{})
	}
	return b.mu.next
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.next != nil {
		close(b.mu.next)
		b.mu.next = nil
	}
}
