package write

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// IgnoresReadErrors reports whether a deletion asks to remove an object whose stored
// value cannot be read (KEP-3926).
func IgnoresReadErrors(opts *metav1.DeleteOptions) bool {
	return ptr.Deref(opts.IgnoreStoreReadErrorWithClusterBreakingPotential, false)
}

// IgnoreReadErrors is the name of the option in DeleteOptions.
const IgnoreReadErrors = "ignoreStoreReadErrorWithClusterBreakingPotential"

// verbDeleteIgnoreErrors is the verb that authorizes the option.
const verbDeleteIgnoreErrors = "unsafe-delete-ignore-read-errors"

// removeUnreadable deletes the named object, whose stored value must be unreadable.
// Finalizers, preconditions and admission are skipped, since they cannot be read or asked.
func (c *Operation) removeUnreadable() error {
	if err := c.mayRemoveUnreadable(); err != nil {
		return err
	}
	for {
		at, err := c.unreadableAt()
		if err != nil {
			return err
		}
		if c.DryRun {
			break
		}
		res, err := c.commit(&Written{key: c.Endpoint.Cache.Key(c.Namespace(), c.Info.Name)}, at, storage.Delete)
		if err != nil {
			return err
		}
		if res.Succeeded {
			c.Log.Warn("stored object that cannot be read was deleted", "resource", c.Endpoint.ServedGR.String(), "namespace", c.Namespace(), "name", c.Info.Name, "user", c.UserName())
			break
		}
		if err := c.Context.Err(); err != nil {
			return err
		}
	}
	return c.Write(http.StatusOK, request.ResponseFormat{Media: c.Accept.Media, Pretty: c.Accept.Pretty}, apistatus.Success(&metav1.StatusDetails{
		Name: c.Info.Name, Kind: c.Endpoint.ServedGVK.Kind,
	}))
}

// mayRemoveUnreadable asks for the permission, which is another one than to delete.
func (c *Operation) mayRemoveUnreadable() error {
	a := c.Attributes(verbDeleteIgnoreErrors, c.Info.Name)
	if a.Subresource != "" {
		return apierrors.NewForbidden(c.Endpoint.ServedGR, a.Name, errors.New(IgnoreReadErrors+" delete option is not allowed on a subresource or non-resource request"))
	}
	d, reason, err := c.Authorizer.Authorize(c.Context, a)
	switch {
	case err != nil:
		return apierrors.NewForbidden(c.Endpoint.ServedGR, a.Name, fmt.Errorf("error while checking permission for %q, %w", a.Verb, err))
	case d != auth.Allow:
		return apierrors.NewForbidden(c.Endpoint.ServedGR, a.Name, fmt.Errorf("not permitted to do %q, reason: %s", a.Verb, reason))
	}
	return nil
}

// unreadableAt returns the revision of the named object, or an error if its value is readable.
func (c *Operation) unreadableAt() (storage.Revision, error) {
	now, err := c.Read(c.Info.Name, watchcache.ReadAt{})
	var e *watchcache.UnreadableError
	if errors.As(err, &e) {
		return e.Objects[0].Revision, nil
	}
	if err != nil {
		return 0, err
	}
	if _, err := c.Decode(now); err != nil { // JSON, but not of such an object
		return now.Revision(), nil
	}
	return 0, apistatus.Conflict(c.Endpoint.ServedGR, c.Info.Name, fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage", now.Key()))
}

// refuseIgnoringReadErrors refuses the option for a collection.
func refuseIgnoringReadErrors(opts *metav1.DeleteOptions) error {
	if !IgnoresReadErrors(opts) {
		return nil
	}
	return apistatus.InvalidOptions("DeleteOptions", field.ErrorList{field.Invalid(field.NewPath(IgnoreReadErrors), true,
		"is not allowed with DELETECOLLECTION, try again after removing the option")})
}
