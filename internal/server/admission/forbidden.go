package admission

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// forbid returns the 403 error for a request, with the object named as in kube-apiserver.
func forbid(r *Request, err error) *apierrors.StatusError {
	name := r.Name
	if name == "" && r.Object != nil {
		if m, merr := meta.Accessor(r.Object); merr == nil {
			if name = m.GetName(); name == "" {
				name = m.GetGenerateName()
			}
		}
	}
	if name == "" {
		name = "Unknown"
	}
	return apierrors.NewForbidden(r.GroupResource(), name, err)
}

// internal returns the 500 error for an unexpected failure.
func internal(err error) *apierrors.StatusError { return apierrors.NewInternalError(err) }

// unclassified returns the 500 error for a rejection to which kube-apiserver gives no reason.
func unclassified(err error) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}

// status returns a status error unchanged and turns any other error into a 500.
func status(err error) error {
	var s *apierrors.StatusError
	if errors.As(err, &s) {
		return s
	}
	return internal(err)
}

func core(resource string) schema.GroupResource { return schema.GroupResource{Resource: resource} }

// on reports whether the request is a write with the verb to the resource itself, not to a subresource.
func (r *Request) on(verb Verb, gr schema.GroupResource) bool {
	return r.Verb == verb && r.Subresource == "" && r.GroupResource() == gr
}

// Forbidden returns the 403 error for a request, for plugins of other packages.
func Forbidden(r *Request, err error) *apierrors.StatusError { return forbid(r, err) }
