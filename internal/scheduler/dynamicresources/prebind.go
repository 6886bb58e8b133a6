package dynamicresources

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"fairlead.dev/internal/scheduler/devices"
)

// A binding is the writes for a pod and its claims.
type binding struct {
	plugin Plugin
	writer *devices.Writer
	groups bool // pod groups may have claims
	pod    *corev1.Pod
	node   string
	steps  []step
	// written are the claims that were written; for unreserve.
	written []*resourcev1.ResourceClaim
}

// A step is the work for one claim.
type step struct {
	claim      *resourcev1.ResourceClaim
	user       resourcev1.ResourceClaimConsumerReference // for which it is reserved
	allocation *resourcev1.AllocationResult              // nil: it has one
	uses       []corev1.ContainerExtendedResourceRequest // nil: it is not the claim for extended resources
}

// writes reports whether a claim has to be written.
func (b *binding) writes() bool {
	for i := range b.steps {
		if !b.isReserved(b.steps[i].claim) {
			return true
		}
	}
	return false
}

// isReserved reports whether a claim is reserved for the pod, or for its group.
func (b *binding) isReserved(claim *resourcev1.ResourceClaim) bool {
	return resourceclaim.IsReservedForPod(b.pod, claim, b.groups)
}

// waits reports whether devices have to meet conditions.
func (b *binding) waits() bool {
	for i := range b.steps {
		if devices.HasConditions(b.steps[i].claim.Status.Allocation) || devices.HasConditions(b.steps[i].allocation) {
			return true
		}
	}
	return false
}

// preBind writes the allocations and reservations, and waits for the conditions of devices.
func (b *binding) preBind(ctx context.Context) error {
	for i := range b.steps {
		s := &b.steps[i]
		if b.isReserved(s.claim) {
			b.written = append(b.written, s.claim)
			continue
		}
		claim := s.claim
		if s.uses != nil {
			var err error
			if claim, err = b.writer.CreateExtended(ctx, b.pod, claim.Spec); err != nil {
				return err
			}
			b.written = append(b.written, claim)
		}
		claim, err := b.writer.Bind(ctx, s.user, claim, s.allocation)
		if err != nil {
			return err
		}
		if s.uses == nil {
			b.written = append(b.written, claim)
		} else if err := b.writer.NameExtended(ctx, b.pod, claim.Name, s.uses); err != nil {
			return err
		} else {
			b.written[len(b.written)-1] = claim
		}
	}
	if !b.waits() {
		return nil
	}
	b.writer.Event(b.pod, "BindingConditionsPending", fmt.Sprintf("waiting for binding conditions for device on node %s", b.node))
	return b.writer.Wait(ctx, b.written, b.plugin.BindingTimeout)
}

// unreserve takes back the reservations that were written for the pod, and deletes the claim for extended resources.
// Reservations for the group stay, since other pods may use them, and so do allocations: the next attempt uses both, or frees
// them.
func (b *binding) unreserve(ctx context.Context) {
	for _, c := range b.written {
		if c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true" {
			_ = b.writer.Delete(ctx, c) // else the next attempt finds it, and deletes it
		} else if resourceclaim.IsReservedForPod(b.pod, c, false) {
			_ = b.writer.Unreserve(ctx, b.pod.UID, c) // as above: a reservation for this pod does not hinder it
		}
	}
}
