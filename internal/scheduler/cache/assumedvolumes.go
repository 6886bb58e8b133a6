package cache

import "k8s.io/apimachinery/pkg/types"

// AssumedVolumes are the volumes and claims that were chosen for assumed pods, before the informers
// show the binding. Several pods may share a claim.
type AssumedVolumes struct {
	takers map[string]types.NamespacedName
	claims map[types.NamespacedName]*assumedClaim
}

type assumedClaim struct {
	volume string // "": one is to be provisioned
	node   string // where a volume is to be provisioned; "" if volume is set
	pods   int
}

func newAssumedVolumes() AssumedVolumes {
	return AssumedVolumes{map[string]types.NamespacedName{}, map[types.NamespacedName]*assumedClaim{}}
}

// Taker returns the claim that takes a volume.
func (a AssumedVolumes) Taker(volume string) (claim types.NamespacedName, taken bool) {
	claim, taken = a.takers[volume]
	return claim, taken
}

// Of returns the volume that a claim takes, or the node on which one is to be provisioned for it; both are empty if
// no assumed pod uses the claim.
func (a AssumedVolumes) Of(claim types.NamespacedName) (volume, node string) {
	if c := a.claims[claim]; c != nil {
		return c.volume, c.node
	}
	return "", ""
}

// Assume records the choice for a claim of a pod on a node: a volume, or "" for one that is to be provisioned there. All
// pods that share a claim have the same choice.
func (a AssumedVolumes) Assume(claim types.NamespacedName, volume, node string) {
	c := a.claims[claim]
	if c == nil {
		c = &assumedClaim{volume: volume}
		if volume == "" {
			c.node = node
		} else {
			a.takers[volume] = claim
		}
		a.claims[claim] = c
	}
	c.pods++
}

// Release ends the choice for a claim of a pod. It lasts for the other pods that share it.
func (a AssumedVolumes) Release(claim types.NamespacedName) {
	c := a.claims[claim]
	if c == nil {
		return
	}
	if c.pods--; c.pods > 0 {
		return
	}
	delete(a.claims, claim)
	if c.volume != "" {
		delete(a.takers, c.volume)
	}
}
