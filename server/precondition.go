package server

import (
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// checkRevision compares the object's resourceVersion with the present one. An object without
// one takes the present one, unless its kind requires it.
func (c *call) checkRevision(obj resource.Object, now *watchcache.Object) error {
	said := obj.GetResourceVersion()
	if said == "" || said == "0" {
		if !c.ep.Strategy.RequireResourceVersion {
			obj.SetResourceVersion(now.Revision().String())
			return nil
		}
		kind := schema.GroupKind{Group: c.ep.ServedGR.Group, Kind: c.ep.ServedGR.Resource}
		return apierrors.NewInvalid(kind, obj.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	}
	rev, err := strconv.ParseUint(said, 10, 64)
	if err != nil {
		return err // which clients see as it is
	}
	if storage.Revision(rev) != now.Revision() {
		return apistatus.Conflict(c.ep.ServedGR, obj.GetName(), apistatus.OptimisticLockError)
	}
	return nil
}

func (c *call) uidConflict(name string, want, have types.UID) error {
	return apistatus.Conflict(c.ep.ServedGR, name, fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s",
		c.ep.Key(c.namespace(), name), want, have))
}
