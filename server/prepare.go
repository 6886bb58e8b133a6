package server

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/quoted"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// prepareUpdate keeps what an update may not change and validates the rest. It tells
// the faults found so far along with its own.
func (c *call) prepareUpdate(obj, old resource.Object, faults field.ErrorList) error {
	prepare, validate := c.updateRules()
	whole := c.info.subresource == ""
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
	if c.ep.Custom != nil {
		errs = append(errs, c.validateCustom(obj, old, errs)...)
	} else if validate != nil {
		errs = append(errs, validate(obj, old)...)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(c.kindOf(obj), obj.GetName(), quoted.Faults(errs))
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

// kindOf is the kind that errors about an object name: a custom one says it itself.
func (c *call) kindOf(obj runtime.Object) schema.GroupKind {
	if c.ep.Custom != nil {
		return obj.GetObjectKind().GroupVersionKind().GroupKind()
	}
	return c.ep.StorageGVK().GroupKind()
}

// updateRules are the strategy's functions for what the path names.
func (c *call) updateRules() (prepare func(obj, old runtime.Object), validate func(obj, old runtime.Object) field.ErrorList) {
	st := &c.ep.Strategy
	switch sub := c.info.subresource; sub {
	case "", "scale":
		return st.PrepareForUpdate, st.ValidateUpdate
	case "status":
		return st.PrepareForStatusUpdate, st.ValidateStatusUpdate
	default:
		s := c.ep.Subresource(sub)
		prepare, validate = s.PrepareForUpdate, s.ValidateUpdate
		if prepare == nil {
			prepare = partOf[sub]
		}
		return prepare, validate
	}
}

// emptied says that the update took the last finalizer off an object that is
// being deleted, so that it goes now.
func (c *call) emptied(obj, old resource.Object) bool {
	if len(obj.GetFinalizers()) > 0 || old.GetDeletionTimestamp() == nil {
		return false
	}
	if s := old.GetDeletionGracePeriodSeconds(); s != nil && *s != 0 {
		return false
	}
	return !hasSpecFinalizers(obj)
}

// removeEmptied deletes in place of writing w.
func (c *call) removeEmptied(w *written, now *watchcache.Object) (*written, bool, error) {
	w.revise(now.Revision())
	if c.dryRun {
		return w, false, nil
	}
	res, err := c.commit(w, now.Revision(), storage.Delete)
	return w, err == nil && !res.Succeeded, err
}
