package read

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
)

// Computed returns the objects of a resource that is not stored: those of a namespace, of all
// namespaces if it is empty, or the one of a name. Each call makes new objects. The error, or
// without any object NotFound, is the response.
type Computed func(ctx context.Context, namespace, name string) ([]runtime.Object, error)

// Serve answers a get or list. A nil Computed has no objects.
func (read Computed) Serve(c *call.Call) error {
	defer c.Within(call.UpdateTimeout)()
	var objects []runtime.Object
	if read != nil {
		var err error
		if objects, err = read(c.Context, c.Namespace(), c.Info.Name); err != nil {
			return err
		}
	}
	if len(c.Info.Parts) == 1 {
		return listComputed(c, objects)
	}
	if len(objects) == 0 {
		return c.NotFound(c.Info.Name)
	}
	return c.AnswerTyped(http.StatusOK, kinded(c, objects[0]), "")
}

func kinded(c *call.Call, obj runtime.Object) runtime.Object {
	obj.GetObjectKind().SetGroupVersionKind(c.Endpoint.ServedGVK)
	return obj
}

func listComputed(c *call.Call, objects []runtime.Object) error {
	opts, err := c.ListOptions()
	if err != nil {
		return err
	}
	if _, _, err := c.Selection(opts); err != nil {
		return err
	}
	if opts.LabelSelector != nil {
		kept := objects[:0]
		for _, o := range objects {
			if m, err := meta.Accessor(o); err == nil && opts.LabelSelector.Matches(labels.Set(m.GetLabels())) {
				kept = append(kept, o)
			}
		}
		objects = kept
	}
	f, err := c.Representation()
	if err != nil {
		return err
	}
	if err := f.CheckShape(true); err != nil {
		return err
	}
	if f.Shape == request.AsObject {
		list := c.Endpoint.ServedVersion.NewList()
		if err := meta.SetList(list, objects); err != nil {
			return err
		}
		list.GetObjectKind().SetGroupVersionKind(c.Endpoint.ServedGVK.GroupVersion().WithKind(c.Endpoint.ListKind()))
		return c.Write(http.StatusOK, c.Accept, list)
	}
	if !f.Media.IsText() {
		return apierrors.NewGenericServerResponse(http.StatusNotAcceptable, "", c.Endpoint.ServedGR, "", "", 0, false)
	}
	dst := f.AppendListHead(nil, represent.ListMeta{})
	for i, o := range objects {
		if i > 0 {
			dst = append(dst, ',')
		}
		element, err := f.Encode(kinded(c, o))
		if err != nil {
			return err
		}
		dst = append(dst, element...)
	}
	return c.WriteBytes(http.StatusOK, f.Media.String(), append(dst, "]}"...))
}
