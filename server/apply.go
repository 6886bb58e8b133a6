package server

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/patch"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

// apply merges a configuration into an object, or creates the object. The field manager comes
// to own the fields in the configuration and gives up its others.
func (c *call) apply(p patch.Patch, opts *metav1.PatchOptions) error {
	c.applies = true
	config, err := decodeConfig(p)
	if err != nil {
		return err
	}
	if err := serializer.CheckNumbers(config.text, c.ep.ServedVersion.New()); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	w, created, err := c.modify(c.info.Name, change{
		recorded:  true,
		mayCreate: true,
		next: func(now *watchcache.Object, old resource.Object) (resource.Object, error) {
			obj, ok := c.mergePlain(now, old, config, opts)
			if !ok {
				var err error
				if obj, err = c.merge(old, config, opts); err != nil {
					return nil, err
				}
			}
			if old == nil {
				if uid := obj.GetUID(); uid != "" {
					return nil, apistatus.Conflict(c.ep.ServedGR, c.info.Name, fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
				}
			}
			return obj, nil
		},
		opts:       &metav1.UpdateOptions{DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation},
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

// merge merges a configuration by the kind's schemas, with apimachinery's field manager.
func (c *call) merge(old resource.Object, config *config, opts *metav1.PatchOptions) (resource.Object, error) {
	fm, err := c.s.merges.manager(c.ctx, c.ep, c.info.Subresource)
	if err != nil {
		return nil, err
	}
	live, err := c.liveOrNew(old)
	if err != nil {
		return nil, err
	}
	asked, err := config.fresh()
	if err != nil {
		return nil, err
	}
	if old != nil {
		own := metav1.ManagedFieldsEntry{Manager: opts.FieldManager, APIVersion: c.ep.ServedGVK.GroupVersion().String(), Subresource: c.info.Subresource}
		live.SetManagedFields(managed.SkipPruning(live.GetManagedFields(), own, config.text, c.ep.Shape()))
	}
	out, err := fm.Apply(c.ep.ToMerge(live), asked, opts.FieldManager, ptr.Deref(opts.Force, false))
	if err != nil {
		return nil, err
	}
	obj, err := c.ep.FromMerge(out)
	if err != nil {
		return nil, err
	}
	return obj, c.objectTo(config.twice, opts.FieldValidation)
}

// liveOrNew returns the object that a configuration is merged into.
func (c *call) liveOrNew(old resource.Object) (resource.Object, error) {
	if old != nil {
		live := old.DeepCopyObject().(resource.Object)
		live.GetObjectKind().SetGroupVersionKind(c.ep.Hub())
		return live, nil
	}
	obj, err := c.ep.NewObject()
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(c.ep.Hub())
	return endpoint.AsObject(obj)
}

// objectTo reports duplicate keys in a configuration, as the directive wants.
func (c *call) objectTo(twice error, directive string) error {
	switch {
	case twice == nil || directive == metav1.FieldValidationIgnore:
		return nil
	case directive == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", twice))
	}
	c.warn(serializer.StrictWarnings([]error{twice})...)
	return nil
}
