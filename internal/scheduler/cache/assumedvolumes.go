package cache

import "k8s.io/apimachinery/pkg/types"

// AssumedVolumes are the volumes and claims whose binding is decided and not to be seen yet.
type AssumedVolumes struct {
	Volumes map[string]types.NamespacedName // taken, by whom
	Claims  map[types.NamespacedName]string // to be made on a node
}
