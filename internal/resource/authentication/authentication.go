// Package authentication describes the reviews of authentication.k8s.io.
package authentication

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := authenticationv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.NewReview[authenticationv1.SelfSubjectReview](gv, "selfsubjectreviews"),
		resource.NewReview[authenticationv1.TokenReview](gv, "tokenreviews"),
	}
}
