package server

import (
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

// review answers a create of a kind that is never stored.
func review(c *call) error {
	if c.ep.ServedGR == (schema.GroupResource{Resource: "bindings"}) {
		return bindLegacy(c)
	}
	f := c.s.cfg.Reviews[c.ep.ServedGR]
	if f == nil {
		return apistatus.MethodNotAllowed()
	}
	obj := c.ep.ServedVersion.New()
	opts, err := c.readCreate(obj, c.ep.ServedGVK)
	if err != nil {
		return err
	}
	if o, ok := obj.(metav1.Object); ok {
		if err := request.SettleNamespace(o, c.namespace()); err != nil {
			return err
		}
	}
	c.recordBody(obj, c.ep.ServedGVK, opts)
	out, err := f(c.ctx, &CreateRequest{User: c.user, Namespace: c.namespace(), Object: obj, DryRun: len(opts.DryRun) > 0})
	if err != nil {
		return err
	}
	return c.answerOwn(http.StatusCreated, out, c.ep.ServedGVK)
}

// subresourceCreate returns the verb that answers a create of a subresource with f.
func subresourceCreate(f CreateFunc) verb {
	return func(c *call) error {
		defer c.within(updateTimeout)()
		gvk := c.subresourceKind()
		obj, err := resource.Scheme().New(gvk)
		if err != nil {
			return err
		}
		opts, err := c.readCreate(obj, gvk)
		if err != nil {
			return err
		}
		now, err := c.read(c.info.Name, watchcache.ReadAt{})
		if err != nil {
			return err
		}
		parent, err := c.decodeCurrent(now)
		if err != nil {
			return err
		}
		complete(obj)
		c.recordBody(obj, gvk, opts)
		if obj, err = admitBody(c, obj, opts); err != nil {
			return err
		}
		out, err := f(c.ctx, &CreateRequest{
			User: c.user, Namespace: c.namespace(), Name: c.info.Name,
			Object: obj, Parent: parent, DryRun: len(opts.DryRun) > 0,
		})
		if err != nil {
			return err
		}
		return c.answerOwn(http.StatusCreated, out, gvk)
	}
}

// complete sets the defaults of a subresource's body.
func complete(obj runtime.Object) {
	if t, ok := obj.(*authenticationv1.TokenRequest); ok && t.Spec.ExpirationSeconds == nil {
		hour := int64(60 * 60)
		t.Spec.ExpirationSeconds = &hour
	}
}

// admitBody asks admission about a body that is not stored as it is, and returns it as
// mutating plugins have left it.
func admitBody[T runtime.Object](c *call, obj T, opts *metav1.CreateOptions) (T, error) {
	ar := c.admission(admission.Create, obj, nil, opts)
	if err := c.chain().All(c.ctx, ar); err != nil {
		return obj, err
	}
	ar.Done(true)
	out, ok := ar.Object.(T)
	if !ok {
		return obj, fmt.Errorf("admission made a %T of a %T", ar.Object, obj)
	}
	return out, nil
}

// subresourceKind returns the kind of the subresource's body.
func (c *call) subresourceKind() schema.GroupVersionKind {
	sub := c.ep.Subresource(c.info.Subresource)
	gvk := schema.GroupVersionKind{Group: sub.Group, Version: sub.Version, Kind: sub.Kind}
	if sub.Version == "" {
		gvk.Group, gvk.Version = c.ep.ServedGVK.Group, c.ep.ServedGVK.Version
	}
	return gvk
}

// readCreate reads the body and options of a create into obj. An empty body leaves obj as it
// is.
func (c *call) readCreate(obj runtime.Object, gvk schema.GroupVersionKind) (*metav1.CreateOptions, error) {
	opts := &metav1.CreateOptions{}
	if err := c.options(opts); err != nil {
		return nil, err
	}
	if errs := validation.ValidateCreateOptions(opts); len(errs) > 0 {
		return nil, apistatus.InvalidOptions("CreateOptions", errs)
	}
	c.dryRun = len(opts.DryRun) > 0
	m, err := c.s.offer.ContentType(c.req)
	if err != nil {
		return nil, err
	}
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	warnings, err := serializer.DecodeBody(body, m, gvk, obj, opts.FieldValidation)
	if err != nil {
		return nil, err
	}
	c.warn(warnings...)
	return opts, nil
}

// answerOwn answers with an object that is not one of the endpoint's stored ones.
func (c *call) answerOwn(code int, obj runtime.Object, gvk schema.GroupVersionKind) error {
	if obj.GetObjectKind().GroupVersionKind().Empty() {
		obj.GetObjectKind().SetGroupVersionKind(gvk)
	}
	a := c.accept
	if a.Shape == request.AsPartial {
		p, err := (&represent.Representation{Endpoint: c.ep, ResponseFormat: a}).Partial(obj)
		if err != nil {
			return err
		}
		obj = p
	}
	return c.write(code, a, obj)
}
