package show

import (
	"strings"

	"fairlead.dev/trace"
)

// IsHeartbeat reports whether an event only renews a Lease or repeats the status of a node.
func IsHeartbeat(lf trace.Life) bool {
	switch lf.Resource {
	case "leases.coordination.k8s.io":
		return true
	case "nodes":
		return lf.Subresource == "status" && strings.HasPrefix(lf.User, "system:node:")
	}
	return false
}
