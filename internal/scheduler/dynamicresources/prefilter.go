package dynamicresources

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// PreFilter finds the claims of a pod. A pod without claims, and without an extended resource that a class offers,
// needs no devices.
func (pl Plugin) PreFilter(c *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	a, v := pl.attempt(c, p)
	if a == nil {
		return nil, v
	}
	return a.check, success
}

// attempt returns the attempt to place a pod that needs devices; nil if it needs no more, or cannot be placed.
func (pl Plugin) attempt(c *cache.Cluster, p *cache.PodInfo) (*attempt, framework.Status) {
	if len(p.Pod.Spec.ResourceClaims) == 0 && len(p.Requests.Other) == 0 {
		return nil, success
	}
	claims, err := claimsOf(c, p)
	if err != nil {
		return nil, framework.Unresolvable(err.Error())
	}
	extended := extendedResources(c, p)
	if len(claims) == 0 && len(extended) == 0 {
		return nil, success
	}
	a := &attempt{plugin: pl, devices: cache.DevicesOf(c), pod: p.Pod, extended: extended}
	if a.group, err = a.devices.GroupOf(p.Pod); err != nil {
		return nil, framework.Unresolvable(err.Error())
	}
	for _, claim := range claims {
		if err := a.findUser(claim); err != nil {
			return nil, framework.Unresolvable(err.Error())
		}
		if v := a.add(claim.ResourceClaim); !v.IsSuccess() {
			return nil, v
		}
	}
	if len(extended) > 0 {
		a.stale = cache.DevicesOf(c).ExtendedClaim(p.Pod.UID)
		a.variants = map[string]*variant{}
	} else if len(a.pending) > 0 {
		a.request = cache.DevicesOf(c).Ask(a.pending, pl.FilterTimeout)
	}
	return a, success
}

// add adds a claim, if it is in order.
func (a *attempt) add(claim *resourcev1.ResourceClaim) framework.Status {
	if claim.Status.Allocation != nil {
		return a.addAllocated(claim, nil)
	}
	if shared := a.devices.Shared(claim); shared != nil {
		return a.addAllocated(claim, shared)
	}
	key := claim.Namespace + "/" + claim.Name
	if a.devices.IsInFlight(claim) {
		return framework.Unresolvable(fmt.Sprintf("resource claim %s is in the process of being allocated", key))
	}
	for i := range claim.Spec.Devices.Requests {
		switch r := &claim.Spec.Devices.Requests[i]; {
		case r.Exactly != nil:
			if v := a.checkClass(r.Exactly.DeviceClassName, r.Name); !v.IsSuccess() {
				return v
			}
		case len(r.FirstAvailable) > 0:
			for j := range r.FirstAvailable {
				if v := a.checkClass(r.FirstAvailable[j].DeviceClassName, r.Name+"/"+r.FirstAvailable[j].Name); !v.IsSuccess() {
					return v
				}
			}
		default:
			return framework.Unresolvable(fmt.Sprintf("resource claim %s, request %s: unknown request type", key, r.Name))
		}
	}
	a.pending = append(a.pending, claim)
	return success
}

func (a *attempt) checkClass(class, request string) framework.Status {
	if class == "" {
		return framework.Failed(fmt.Errorf("request %s: unsupported request type", request))
	}
	if _, ok := a.devices.Class(class); !ok {
		return framework.Unresolvable(fmt.Sprintf("request %s: device class %s does not exist", request, class))
	}
	return success
}
