package resource

import "k8s.io/apimachinery/pkg/api/validate/content"

// PathSegmentName is the naming rule of kinds whose names may be any path segment: those of rbac, disruption
// budgets and signing requests. With prefix, name is only the beginning of one.
func PathSegmentName(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
