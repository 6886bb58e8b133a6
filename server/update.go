package server

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// update replaces an object, or the part of it that a subresource shows.
func update(c *call) error {
	defer c.within(updateTimeout)()
	opts := &metav1.UpdateOptions{}
	if err := c.options(opts); err != nil {
		return err
	}
	if errs := validation.ValidateUpdateOptions(opts); len(errs) > 0 {
		return apistatus.InvalidOptions("UpdateOptions", errs)
	}
	c.dryRun = len(opts.DryRun) > 0
	sent, err := c.decodeObject(opts.FieldValidation)
	if err != nil {
		return err
	}
	if err := request.SettleNamespace(sent, c.namespace()); err != nil {
		return err
	}
	if err := request.CheckName(sent, c.info.Name); err != nil {
		return err
	}
	c.dedupOwners(sent, ownersTwice)
	w, created, err := c.modify(c.info.Name, change{
		uid: sent.GetUID(),
		next: func(*watchcache.Object, resource.Object) (obj resource.Object, err error) {
			if obj, sent = sent, nil; obj != nil {
				return obj, nil
			}
			// It has been used up on a state that was not the last.
			if obj, err = c.decodeObject(opts.FieldValidation); err == nil {
				c.dedupOwners(obj, ownersTwice)
			}
			return obj, err
		},
		manager:    c.fieldManager(opts.FieldManager),
		mayCreate:  c.ep.Strategy.AllowCreateOnUpdate && c.info.Subresource == "",
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
	return w.answer(c, code)
}
