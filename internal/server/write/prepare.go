package write

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/quoted"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// prepareUpdate restores immutable fields from the old object, then validates. The
// errors that admission has found are reported with its own.
func (c *Operation) prepareUpdate(obj, old resource.Object, ar *admission.Request) error {
	prepare, _ := c.Endpoint.UpdateRules(c.Info.Subresource)
	whole := c.Info.Subresource == ""
	drop := c.Endpoint.Strategy.Drop
	if c.Info.Subresource == "status" {
		drop = c.Endpoint.Strategy.DropStatus
	}
	if drop != nil {
		c.Warn(drop(obj, old)...)
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
	errs := append(ar.Faults, resource.ValidateObjectMeta(c.Endpoint.Resource, obj)...)
	errs = append(errs, resource.ValidateObjectMetaUpdate(obj, old)...)
	errs = append(errs, c.Endpoint.ValidateUpdate(c.Context, obj, old, c.Info.Subresource, errs, ar.Warn)...)
	if len(errs) > 0 {
		return apierrors.NewInvalid(c.Endpoint.GroupKind(obj), obj.GetName(), quoted.Faults(errs))
	}
	if !whole {
		return nil
	}
	if why := c.Endpoint.Inert; why != "" {
		c.Warn(why)
	}
	if w := c.Endpoint.Strategy.UpdateWarnings; w != nil {
		c.Warn(w(obj, old)...)
	} else if w := c.Endpoint.Strategy.Warnings; w != nil {
		c.Warn(w(obj)...)
	}
	return nil
}

// lastFinalizerRemoved reports whether the update removes the last finalizer of a terminating
// object, which is then deleted.
func (c *Operation) lastFinalizerRemoved(obj, old resource.Object) bool {
	if len(obj.GetFinalizers()) > 0 || old.GetDeletionTimestamp() == nil {
		return false
	}
	if s := old.GetDeletionGracePeriodSeconds(); s != nil && *s != 0 {
		return false
	}
	f := c.Endpoint.Strategy.Finalizing
	return f == nil || !f(obj)
}

// removeFinalized deletes the object in place of writing w.
func (c *Operation) removeFinalized(w *Written, now *watchcache.Object) (*Written, bool, error) {
	w.revise(now.Revision())
	if c.DryRun {
		return w, false, nil
	}
	res, err := c.commit(w, now.Revision(), storage.Delete)
	return w, err == nil && !res.Succeeded, err
}
