package served

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// Once keeps each resource in a single version: the one that its group prefers,
// or the first listed if the preferred version lacks the resource.
func Once(all []client.APIResource) []client.APIResource {
	at := make(map[schema.GroupResource]int, len(all))
	var out []client.APIResource
	for _, r := range all {
		i, ok := at[r.GVR.GroupResource()]
		switch {
		case !ok:
			at[r.GVR.GroupResource()] = len(out)
			out = append(out, r)
		case r.Preferred && !out[i].Preferred:
			out[i] = r
		}
	}
	return out
}
