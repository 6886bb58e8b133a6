package devices

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// Score rates the alternatives that were allocated for the requests of claims with firstAvailable: the first of a
// list counts most. The results are those of the claims, in the same order.
func Score(claims []*resourcev1.ResourceClaim, results []resourcev1.AllocationResult) (score int64) {
	for i, c := range claims {
		for _, request := range c.Spec.Devices.Requests {
			for rank := range request.FirstAvailable {
				name := resourceclaim.CreateSubRequestRef(request.Name, request.FirstAvailable[rank].Name)
				for d := range results[i].Devices.Results {
					if results[i].Devices.Results[d].Request == name {
						score += int64(resourcev1.FirstAvailableDeviceRequestMaxSize - rank)
						break
					}
				}
			}
		}
	}
	return score
}
