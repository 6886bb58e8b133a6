package server

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
)

// ReadFunc returns the objects of a resource that is not stored: those of a namespace, of all
// namespaces if it is empty, or the one of a name. Each call makes new objects.
type ReadFunc func(ctx context.Context, namespace, name string) ([]runtime.Object, error)

// serveComputed answers reads of a resource that is not stored.
func serveComputed(c *call) error {
	defer c.within(updateTimeout)()
	var objects []runtime.Object
	if read := c.s.cfg.Reads[c.ep.ServedGR]; read != nil {
		var err error
		if objects, err = read(c.ctx, c.namespace(), c.info.Name); err != nil {
			return err
		}
	}
	if len(c.info.Parts) == 1 {
		return c.listComputed(objects)
	}
	if len(objects) == 0 {
		gr := c.ep.ServedGR
		if gr == (schema.GroupResource{Resource: "componentstatuses"}) {
			gr.Resource = "componentstatus" // as kube-apiserver calls it there
		}
		return apierrors.NewNotFound(gr, c.info.Name)
	}
	return c.answerTyped(http.StatusOK, kinded(c, objects[0]), "")
}

func kinded(c *call, obj runtime.Object) runtime.Object {
	obj.GetObjectKind().SetGroupVersionKind(c.ep.ServedGVK)
	return obj
}

func (c *call) listComputed(objects []runtime.Object) error {
	opts, err := c.listOptions()
	if err != nil {
		return err
	}
	if _, _, err := c.selection(opts); err != nil {
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
	f, err := c.form()
	if err != nil {
		return err
	}
	if err := f.CheckShape(true); err != nil {
		return err
	}
	if f.Shape == request.AsObject {
		list := c.ep.ServedVersion.NewList()
		if err := meta.SetList(list, objects); err != nil {
			return err
		}
		list.GetObjectKind().SetGroupVersionKind(c.ep.ServedGVK.GroupVersion().WithKind(c.ep.ListKind()))
		return c.write(http.StatusOK, c.accept, list)
	}
	if !f.Media.IsText() {
		return apierrors.NewGenericServerResponse(http.StatusNotAcceptable, "", c.ep.ServedGR, "", "", 0, false)
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
	return c.writeBytes(http.StatusOK, f.Media.String(), append(dst, "]}"...))
}
