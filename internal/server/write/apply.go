package write

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

// applying merges one configuration into the states of an object.
type applying struct {
	*Operation
	config *config
	opts   *metav1.PatchOptions
}

// apply merges a configuration into an object, or creates the object. The field manager comes
// to own the fields in the configuration and gives up its others.
func (c *Operation) apply(p patch.Patch, opts *metav1.PatchOptions) error {
	c.keepsManagedFields = true
	config, err := decodeConfig(p)
	if err != nil {
		return err
	}
	if err := serializer.CheckNumbers(config.text, c.Endpoint.ServedVersion.New()); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	a := applying{c, config, opts}
	w, created, err := c.Modify(c.Info.Name, Change{
		recorded:  true,
		mayCreate: true,
		Next: func(now *watchcache.Object, old resource.Object) (resource.Object, error) {
			obj, ok := a.mergePlain(now, old)
			if !ok {
				var err error
				if obj, err = a.merge(old); err != nil {
					return nil, err
				}
			}
			if old == nil {
				if uid := obj.GetUID(); uid != "" {
					return nil, apistatus.Conflict(c.Endpoint.ServedGR, c.Info.Name, fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
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
	return c.answer(w, code)
}

// merge merges a configuration by the kind's schemas, with apimachinery's field manager.
func (a *applying) merge(old resource.Object) (resource.Object, error) {
	fm, err := a.w.merges.manager(a.Context, a.Endpoint, a.Info.Subresource)
	if err != nil {
		return nil, err
	}
	live, err := a.liveOrNew(old)
	if err != nil {
		return nil, err
	}
	asked, err := a.config.fresh()
	if err != nil {
		return nil, err
	}
	if old != nil {
		own := metav1.ManagedFieldsEntry{Manager: a.opts.FieldManager, APIVersion: a.Endpoint.ServedGVK.GroupVersion().String(), Subresource: a.Info.Subresource}
		live.SetManagedFields(managed.SkipPruning(live.GetManagedFields(), own, a.config.text, a.Endpoint.Shape()))
	}
	out, err := fm.Apply(a.Endpoint.ToMerge(live), asked, a.opts.FieldManager, ptr.Deref(a.opts.Force, false))
	if err != nil {
		return nil, err
	}
	obj, err := a.Endpoint.FromMerge(out)
	if err != nil {
		return nil, err
	}
	return obj, a.reportDuplicates(a.config.duplicates, a.opts.FieldValidation)
}

// liveOrNew returns the object that a configuration is merged into.
func (c *Operation) liveOrNew(old resource.Object) (resource.Object, error) {
	if old != nil {
		live := old.DeepCopyObject().(resource.Object)
		live.GetObjectKind().SetGroupVersionKind(c.Endpoint.Hub())
		return live, nil
	}
	obj, err := c.Endpoint.NewObject()
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(c.Endpoint.Hub())
	return endpoint.AsObject(obj)
}

// reportDuplicates reports duplicate keys in a configuration, as the directive wants.
func (c *Operation) reportDuplicates(duplicates error, directive string) error {
	switch {
	case duplicates == nil || directive == metav1.FieldValidationIgnore:
		return nil
	case directive == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", duplicates))
	}
	c.Warn(serializer.StrictWarnings([]error{duplicates})...)
	return nil
}
