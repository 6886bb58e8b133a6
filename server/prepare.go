package server

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/quoted"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// prepareUpdate restores immutable fields from the old object, then validates. faults are
// errors found before, which are reported with its own.
func (c *call) prepareUpdate(obj, old resource.Object, faults field.ErrorList) error {
	prepare, _ := c.ep.UpdateRules(c.info.Subresource)
	whole := c.info.Subresource == ""
	if drop := c.ep.Strategy.Drop; drop != nil && whole {
		c.warn(drop(obj, old)...)
	}
	obj.SetGeneration(old.GetGeneration())
	if prepare != nil {
		prepare(obj, old)
	}
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	if t := old.GetCreationTimestamp(); !t.IsZero() {
		obj.SetCreationTimestamp(t)
	}
	if t := old.GetDeletionTimestamp(); t != nil {
		obj.SetDeletionTimestamp(t)
	}
	if s := old.GetDeletionGracePeriodSeconds(); s != nil && obj.GetDeletionGracePeriodSeconds() == nil {
		obj.SetDeletionGracePeriodSeconds(s)
	}
	errs := append(faults, resource.ValidateObjectMeta(c.ep.Resource, obj)...)
	errs = append(errs, resource.ValidateObjectMetaUpdate(obj, old)...)
	errs = append(errs, c.ep.ValidateUpdate(c.ctx, obj, old, c.info.Subresource, errs, c.warnOne)...)
	if len(errs) > 0 {
		return apierrors.NewInvalid(c.ep.GroupKind(obj), obj.GetName(), quoted.Faults(errs))
	}
	if !whole {
		return nil
	}
	if why := c.ep.Inert; why != "" {
		c.warn(why)
	}
	if w := c.ep.Strategy.UpdateWarnings; w != nil {
		c.warn(w(obj, old)...)
	} else if w := c.ep.Strategy.Warnings; w != nil {
		c.warn(w(obj)...)
	}
	return nil
}

// lastFinalizerRemoved reports whether the update removes the last finalizer of a terminating
// object, which is then deleted.
func (c *call) lastFinalizerRemoved(obj, old resource.Object) bool {
	if len(obj.GetFinalizers()) > 0 || old.GetDeletionTimestamp() == nil {
		return false
	}
	if s := old.GetDeletionGracePeriodSeconds(); s != nil && *s != 0 {
		return false
	}
	f := c.ep.Strategy.Finalizing
	return f == nil || !f(obj)
}

// removeFinalized deletes the object in place of writing w.
func (c *call) removeFinalized(w *written, now *watchcache.Object) (*written, bool, error) {
	w.revise(now.Revision())
	if c.dryRun {
		return w, false, nil
	}
	res, err := c.commit(w, now.Revision(), storage.Delete)
	return w, err == nil && !res.Succeeded, err
}
