// Package authorization describes the reviews of authorization.k8s.io.
package authorization

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := authorizationv1.SchemeGroupVersion
	local := resource.NewReview[authorizationv1.LocalSubjectAccessReview](gv, "localsubjectaccessreviews")
	local.Namespaced = true
	return []*resource.Resource{
		local,
		resource.NewReview[authorizationv1.SelfSubjectAccessReview](gv, "selfsubjectaccessreviews"),
		resource.NewReview[authorizationv1.SelfSubjectRulesReview](gv, "selfsubjectrulesreviews"),
		resource.NewReview[authorizationv1.SubjectAccessReview](gv, "subjectaccessreviews"),
	}
}
