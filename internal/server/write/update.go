package write

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// Update replaces an object, or the part of it that a subresource shows.
func (w *Writer) Update(in *call.Call) error {
	c := w.Operation(in)
	defer c.Within(call.UpdateTimeout)()
	opts := &metav1.UpdateOptions{}
	if err := c.Options(opts); err != nil {
		return err
	}
	if errs := validation.ValidateUpdateOptions(opts); len(errs) > 0 {
		return apistatus.InvalidOptions("UpdateOptions", errs)
	}
	c.DryRun = len(opts.DryRun) > 0
	sent, err := c.DecodeObject(opts.FieldValidation)
	if err != nil {
		return err
	}
	if err := request.SettleNamespace(sent, c.Namespace()); err != nil {
		return err
	}
	if err := request.CheckName(sent, c.Info.Name); err != nil {
		return err
	}
	c.dedupOwners(sent, ownersTwice)
	written, created, err := c.Modify(c.Info.Name, Change{
		uid: sent.GetUID(),
		Next: func(*watchcache.Object, resource.Object) (obj resource.Object, err error) {
			if obj, sent = sent, nil; obj != nil {
				return obj, nil
			}
			// The first one was used up on a state that has been overtaken.
			if obj, err = c.DecodeObject(opts.FieldValidation); err == nil {
				c.dedupOwners(obj, ownersTwice)
			}
			return obj, err
		},
		manager:    c.manager(opts.FieldManager),
		mayCreate:  c.Endpoint.Strategy.AllowCreateOnUpdate && c.Info.Subresource == "",
		opts:       opts,
		createOpts: &metav1.CreateOptions{DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation},
	})
	if err != nil {
		return err
	}
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	return c.answer(written, code)
}
