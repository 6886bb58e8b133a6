package subresource

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/watchcache"
)

// CreateFunc answers a create with an object of the same kind, or of another kind that the
// object names.
type CreateFunc func(ctx context.Context, r *CreateRequest) (runtime.Object, error)

// CreateRequest is a create whose object is not stored as it is.
type CreateRequest struct {
	// User is never nil.
	User *auth.User
	// Namespace and Name are those of the path; both are empty for a review without a
	// namespace.
	Namespace, Name string
	// Object is the decoded body, of the version of the path.
	Object runtime.Object
	// Parent is the object that the subresource belongs to, nil for a review.
	Parent runtime.Object
	DryRun bool
	// Warn adds a Warning header to the response.
	Warn func(text string)
}

// Review returns the verb that answers a create of a kind that is never stored.
func Review(w *write.Writer, f CreateFunc) call.Verb {
	return func(in *call.Call) error {
		c := w.Operation(in)
		obj := c.Endpoint.ServedVersion.New()
		opts, err := c.ReadCreate(obj, c.Endpoint.ServedGVK)
		if err != nil {
			return err
		}
		if o, ok := obj.(metav1.Object); ok {
			if err := request.SettleNamespace(o, c.Namespace()); err != nil {
				return err
			}
		}
		c.RecordBody(obj, c.Endpoint.ServedGVK, opts)
		out, err := f(c.Context, &CreateRequest{User: c.User, Namespace: c.Namespace(), Object: obj, DryRun: c.DryRun, Warn: func(text string) { c.Warn(text) }})
		if err != nil {
			return err
		}
		return c.AnswerOther(http.StatusCreated, out, c.Endpoint.ServedGVK)
	}
}

// Create returns the verb that answers a create of a subresource.
func Create(w *write.Writer, f CreateFunc) call.Verb {
	return func(in *call.Call) error {
		c := w.Operation(in)
		defer c.Within(call.UpdateTimeout)()
		gvk := bodyKind(c)
		obj, err := resource.Scheme().New(gvk)
		if err != nil {
			return err
		}
		opts, err := c.ReadCreate(obj, gvk)
		if err != nil {
			return err
		}
		watchcache.Recheck(c.Context) // no commit compares the objects that it reads
		now, err := c.Read(c.Info.Name, watchcache.ReadAt{Match: watchcache.Request})
		if err != nil {
			return err
		}
		parent, err := c.Decode(now)
		if err != nil {
			return err
		}
		resource.Scheme().Default(obj)
		c.RecordBody(obj, gvk, opts)
		if obj, err = admitBody(c, obj, opts); err != nil {
			return err
		}
		out, err := f(c.Context, &CreateRequest{
			User: c.User, Namespace: c.Namespace(), Name: c.Info.Name,
			Object: obj, Parent: parent, DryRun: c.DryRun, Warn: func(text string) { c.Warn(text) },
		})
		if err != nil {
			return err
		}
		return c.AnswerOther(http.StatusCreated, out, gvk)
	}
}

// admitBody asks admission about a body that is not stored as it is, and returns it as
// mutating plugins have left it.
func admitBody[T runtime.Object](c *write.Operation, obj T, opts *metav1.CreateOptions) (T, error) {
	ar := c.AdmissionRequest(admission.Create, obj, nil, opts)
	if err := c.Admission().All(c.Context, ar); err != nil {
		return obj, err
	}
	ar.Done(true)
	out, ok := ar.Object.(T)
	if !ok {
		return obj, fmt.Errorf("admission made a %T of a %T", ar.Object, obj)
	}
	return out, nil
}

// bodyKind returns the kind of the subresource's body.
func bodyKind(c *write.Operation) schema.GroupVersionKind {
	sub := c.Endpoint.Subresource(c.Info.Subresource)
	gvk := schema.GroupVersionKind{Group: sub.Group, Version: sub.Version, Kind: sub.Kind}
	if sub.Version == "" {
		gvk.Group, gvk.Version = c.Endpoint.ServedGVK.Group, c.Endpoint.ServedGVK.Version
	}
	return gvk
}
