package admission

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// forbid is the 403 for a request, with the object named as kube-apiserver does.
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

// internal is the 500 for what should not happen.
func internal(err error) *apierrors.StatusError { return apierrors.NewInternalError(err) }

// status passes a status error on and makes a 500 of any other.
func status(err error) error {
	var s *apierrors.StatusError
	if errors.As(err, &s) {
		return s
	}
	return internal(err)
}

func core(resource string) schema.GroupResource { return schema.GroupResource{Resource: resource} }

// on says whether the request is a write with the verb to the resource itself,
// not to a subresource.
func (r *Request) on(verb Verb, gr schema.GroupResource) bool {
	return r.Verb == verb && r.Subresource == "" && r.GroupResource() == gr
}

// Forbidden is the 403 for a request, for plugins of other packages.
func Forbidden(r *Request, err error) *apierrors.StatusError { return forbid(r, err) }
