package write

import (
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// checkRevision compares the object's resourceVersion with the present one. An object without
// one takes the present one, unless its kind requires it.
func (c *Operation) checkRevision(obj resource.Object, now *watchcache.Object) error {
	said := obj.GetResourceVersion()
	if said == "" || said == "0" {
		if !c.Endpoint.Strategy.RequireResourceVersion {
			obj.SetResourceVersion(now.Revision().String())
			return nil
		}
		kind := schema.GroupKind{Group: c.Endpoint.ServedGR.Group, Kind: c.Endpoint.ServedGR.Resource}
		return apierrors.NewInvalid(kind, obj.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	}
	rev, err := strconv.ParseUint(said, 10, 64)
	if err != nil {
		return err // which clients see as it is
	}
	if storage.Revision(rev) != now.Revision() {
		return apistatus.Conflict(c.Endpoint.ServedGR, obj.GetName(), apistatus.OptimisticLockError)
	}
	return nil
}

func (c *Operation) uidConflict(name string, want, have types.UID) error {
	return apistatus.Conflict(c.Endpoint.ServedGR, name, fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s",
		c.Endpoint.Key(c.Namespace(), name), want, have))
}

// CheckPreconditions returns a Conflict unless the object meets the preconditions of the options.
func (c *Operation) CheckPreconditions(old resource.Object, opts *metav1.DeleteOptions) error {
	p := opts.Preconditions
	if p == nil {
		return nil
	}
	gr := schema.GroupResource{Group: c.Endpoint.ServedGVK.Group, Resource: c.Endpoint.ServedGVK.Kind}
	if p.UID != nil && *p.UID != old.GetUID() {
		return apistatus.Conflict(gr, old.GetName(), fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, old.GetUID()))
	}
	if rv := ptr.Deref(p.ResourceVersion, old.GetResourceVersion()); rv != old.GetResourceVersion() {
		return apistatus.Conflict(gr, old.GetName(), fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", rv, old.GetResourceVersion()))
	}
	return nil
}
