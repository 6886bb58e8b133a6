package auth

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Forbidden returns the 403 error for a denied request.
func Forbidden(a Attributes, reason string) *apierrors.StatusError {
	gr := schema.GroupResource{Group: a.Group, Resource: a.Resource}
	return apierrors.NewForbidden(gr, a.Name, errText(ForbiddenMessage(a, reason)))
}

// ForbiddenMessage describes a denied request in kube-apiserver's words.
func ForbiddenMessage(a Attributes, reason string) string {
	name := ""
	if a.User != nil {
		name = a.User.Name
	}
	var msg string
	if !a.IsResource {
		msg = fmt.Sprintf("User %q cannot %s path %q", name, a.Verb, a.Path)
	} else {
		resource := a.Resource
		if a.Subresource != "" {
			resource += "/" + a.Subresource
		}
		msg = fmt.Sprintf("User %q cannot %s resource %q in API group %q", name, a.Verb, resource, a.Group)
		if a.Namespace != "" {
			msg += fmt.Sprintf(" in the namespace %q", a.Namespace)
		} else {
			msg += " at the cluster scope"
		}
	}
	if reason != "" {
		msg += ": " + reason
	}
	return msg
}

type errText string

func (e errText) Error() string { return string(e) }
