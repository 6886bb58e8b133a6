package call

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
)

// ReadCreate reads the body and options of a create into obj. An empty body leaves obj as it
// is.
func (c *Call) ReadCreate(obj runtime.Object, gvk schema.GroupVersionKind) (*metav1.CreateOptions, error) {
	opts := &metav1.CreateOptions{}
	if err := c.Options(opts); err != nil {
		return nil, err
	}
	if errs := validation.ValidateCreateOptions(opts); len(errs) > 0 {
		return nil, apistatus.InvalidOptions("CreateOptions", errs)
	}
	c.DryRun = len(opts.DryRun) > 0
	m, err := c.Negotiator.ContentType(c.HTTP)
	if err != nil {
		return nil, err
	}
	body, err := c.Body()
	if err != nil {
		return nil, err
	}
	warnings, err := serializer.DecodeBody(body, m, gvk, obj, opts.FieldValidation)
	if err != nil {
		return nil, err
	}
	c.Warn(warnings...)
	c.AuditBody(obj, gvk)
	return opts, nil
}

// AnswerOther answers with an object that is not one of the endpoint's stored ones.
func (c *Call) AnswerOther(code int, obj runtime.Object, gvk schema.GroupVersionKind) error {
	if obj.GetObjectKind().GroupVersionKind().Empty() {
		obj.GetObjectKind().SetGroupVersionKind(gvk)
	}
	a := c.Accept
	if a.Shape == request.AsPartial {
		p, err := (&represent.Representation{Endpoint: c.Endpoint, ResponseFormat: a}).Partial(obj)
		if err != nil {
			return err
		}
		obj = p
	}
	return c.Write(code, a, obj)
}
