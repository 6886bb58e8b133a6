package cache

import "k8s.io/apimachinery/pkg/types"

// AssumedVolumes are the volumes and claims that were chosen for assumed pods, before the informers
// show the binding.
type AssumedVolumes struct {
	Volumes map[string]types.NamespacedName // the claim that takes a volume
	Claims  map[types.NamespacedName]string // the node on which a claim is to be provisioned
}
