package call

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/serializer"
)

// auditObject records the object that the client has sent, which is in the hub version, with the defaults of its kind.
func (c *Call) auditObject(obj resource.Object) {
	if c.Audit == nil {
		return
	}
	c.Audit.Object(obj, c.gvr(), c.Info.Subresource, func(obj runtime.Object) ([]byte, error) {
		obj = obj.DeepCopyObject()
		if f := c.Endpoint.Strategy.Default; f != nil {
			f(obj)
		}
		out, err := c.Endpoint.Convert(obj)
		if err != nil {
			return nil, err
		}
		return serializer.Marshal(out, serializer.JSON)
	})
}

// AuditBody records a body that is not an object of the endpoint.
func (c *Call) AuditBody(obj runtime.Object, gvk schema.GroupVersionKind) {
	if c.Audit == nil {
		return
	}
	c.Audit.Object(obj, c.gvr(), c.Info.Subresource, func(obj runtime.Object) ([]byte, error) {
		obj = obj.DeepCopyObject()
		resource.Scheme().Default(obj)
		obj.GetObjectKind().SetGroupVersionKind(gvk)
		return serializer.Marshal(obj, serializer.JSON)
	})
}

func (c *Call) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: c.Info.Group, Version: c.Info.Version, Resource: c.Info.Resource}
}

// AuditResponse lets the response be recorded. It must be called before the response begins, and only for a response that
// is an object.
func (c *Call) AuditResponse() {
	if w := c.Audit.Body(); w != nil {
		c.Writer.Copy = w
	}
}
