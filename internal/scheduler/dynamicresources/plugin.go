package dynamicresources

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// success is the Status of a node that passes.
var success framework.Status

// Plugin is the filter.
type Plugin struct {
	// FilterTimeout limits the search for devices on a node; 0 means no limit.
	FilterTimeout time.Duration
	// BindingTimeout limits the wait for the conditions of devices.
	BindingTimeout time.Duration
	// NoPostFilter: claims are not freed for pods that they hinder.
	NoPostFilter bool
	// NoGroupPostFilter: claims of pod groups are not freed for them.
	NoGroupPostFilter bool
}

// Name returns the plugin's name.
func (Plugin) Name() string { return "DynamicResources" }

// EventsToRegister returns the events that may make claims fit.
func (Plugin) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged | framework.ResourceClaimChanged | framework.DevicesFreed |
		framework.ResourceSliceChanged | framework.DeviceClassChanged
}

// QueueingHint ignores changes of other claims and those of the metadata.
func (Plugin) QueueingHint(_ *cache.PodInfo, e *framework.ClusterEvent) bool {
	if e.Kind != framework.ResourceClaimChanged || e.FreesDevices() || e.OldClaim == nil || e.Claim == nil {
		return true
	}
	return !apiequality.Semantic.DeepEqual(e.OldClaim.Status, e.Claim.Status)
}

// PreEnqueue reports whether the claims of a pod exist.
func (Plugin) PreEnqueue(c *cache.Cluster, p *cache.PodInfo) bool {
	_, err := claimsOf(c, p)
	return err == nil
}

// A podClaim is a claim, and the entry of the pod that it is for.
type podClaim struct {
	*resourcev1.ResourceClaim
	entry *corev1.PodResourceClaim
}

// claimsOf returns the claims in the spec of a pod, without those that need not exist.
func claimsOf(c *cache.Cluster, p *cache.PodInfo) (all []podClaim, err error) {
	for i := range p.Pod.Spec.ResourceClaims {
		entry := &p.Pod.Spec.ResourceClaims[i]
		name, own, err := resourceclaim.Name(p.Pod, entry)
		if err != nil {
			return nil, err
		}
		if name == nil {
			continue
		}
		claim, ok := cache.DevicesOf(c).Claim(p.Pod.Namespace, *name)
		switch {
		case !ok:
			return nil, fmt.Errorf("could not find ResourceClaim %q", p.Pod.Namespace+"/"+*name)
		case claim.DeletionTimestamp != nil:
			return nil, fmt.Errorf("resourceclaim %q is being deleted", *name)
		case own:
			if err := resourceclaim.IsForPod(p.Pod, claim, cache.DevicesOf(c).HasGroupClaims()); err != nil {
				return nil, err
			}
		}
		all = append(all, podClaim{claim, entry})
	}
	return all, nil
}
