package server

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ReadFunc tells the objects of a kind that is not stored: all of a namespace, of all if
// it is empty, or the one of a name. Each call makes new ones.
type ReadFunc func(ctx context.Context, namespace, name string) ([]runtime.Object, error)

// measured answers reads of such a kind.
func measured(c *call) error {
	defer c.within(updateTimeout)()
	var objects []runtime.Object
	if read := c.s.cfg.Reads[c.ep.gr]; read != nil {
		var err error
		if objects, err = read(c.ctx, c.namespace(), c.info.name); err != nil {
			return err
		}
	}
	if len(c.info.parts) == 1 {
		return c.listMeasured(objects)
	}
	if len(objects) == 0 {
		gr := c.ep.gr
		if gr == (schema.GroupResource{Resource: "componentstatuses"}) {
			gr.Resource = "componentstatus" // as kube-apiserver calls it there
		}
		return apierrors.NewNotFound(gr, c.info.name)
	}
	return c.answerTyped(http.StatusOK, kinded(c, objects[0]), "")
}

func kinded(c *call, obj runtime.Object) runtime.Object {
	obj.GetObjectKind().SetGroupVersionKind(c.ep.gvk)
	return obj
}

func (c *call) listMeasured(objects []runtime.Object) error {
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
	if err := f.refuseShape(true); err != nil {
		return err
	}
	if f.shape == asObject {
		list := c.ep.version.NewList()
		if err := meta.SetList(list, objects); err != nil {
			return err
		}
		list.GetObjectKind().SetGroupVersionKind(c.ep.gvk.GroupVersion().WithKind(c.ep.ListKind()))
		return c.write(http.StatusOK, c.accept, list)
	}
	if !f.media.IsText() {
		return apierrors.NewGenericServerResponse(http.StatusNotAcceptable, "", c.ep.gr, "", "", 0, false)
	}
	dst := f.appendListHead(nil, listMeta{})
	for i, o := range objects {
		if i > 0 {
			dst = append(dst, ',')
		}
		element, err := f.encode(kinded(c, o))
		if err != nil {
			return err
		}
		dst = append(dst, element...)
	}
	return c.writeBytes(http.StatusOK, f.media.String(), append(dst, "]}"...))
}
