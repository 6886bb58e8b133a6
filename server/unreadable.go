package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/adopt"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// CheckStored returns a function that explains why a server of these resources cannot read the
// value of a key. It returns nil if the server can, or if the key is no object's.
func CheckStored(resources []*resource.Resource) func(*storage.KeyValue) error {
	kinds := map[string]watchcache.Options{}
	for _, r := range resources {
		if r.StoragePrefix != "" && !r.SharesStorage {
			kinds[r.StoragePrefix+"/"] = watchcache.Options{Read: adopt.For(r).Read, TypePrefix: endpoint.TypePrefix(r.StorageGVK())}
		}
	}
	return func(kv *storage.KeyValue) error {
		for i := strings.LastIndexByte(kv.Key, '/'); i >= 0; i = strings.LastIndexByte(kv.Key[:i], '/') {
			if o, ok := kinds[kv.Key[:i+1]]; ok {
				return watchcache.Check(kv, o)
			}
		}
		group, _, deeper := strings.Cut(strings.TrimPrefix(kv.Key, watchcache.Root), "/")
		if deeper && strings.Contains(group, ".") && strings.HasPrefix(kv.Key, watchcache.Root) { // a custom kind's
			return watchcache.Check(kv, watchcache.Options{})
		}
		return nil
	}
}

// ignoresReadErrors reports whether a deletion asks to remove an object whose stored
// value cannot be read (KEP-3926).
func ignoresReadErrors(opts *metav1.DeleteOptions) bool {
	return ptr.Deref(opts.IgnoreStoreReadErrorWithClusterBreakingPotential, false)
}

const (
	ignoreReadErrors       = "ignoreStoreReadErrorWithClusterBreakingPotential"
	verbDeleteIgnoreErrors = "unsafe-delete-ignore-read-errors"
)

// removeUnreadable deletes the named object, whose stored value must be unreadable.
// Finalizers, preconditions and admission are skipped, since they cannot be read or asked.
func (c *call) removeUnreadable() error {
	if err := c.mayRemoveUnreadable(); err != nil {
		return err
	}
	for {
		at, err := c.unreadableAt()
		if err != nil {
			return err
		}
		if c.dryRun {
			break
		}
		res, err := c.commit(&written{key: c.ep.Cache.Key(c.namespace(), c.info.Name)}, at, storage.Delete)
		if err != nil {
			return err
		}
		if res.Succeeded {
			c.s.log.Warn("stored object that cannot be read was deleted", "resource", c.ep.ServedGR.String(), "namespace", c.namespace(), "name", c.info.Name, "user", userName(c.user))
			break
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	return c.write(http.StatusOK, request.ResponseFormat{Media: c.accept.Media, Pretty: c.accept.Pretty}, apistatus.Success(&metav1.StatusDetails{
		Name: c.info.Name, Kind: c.ep.ServedGVK.Kind,
	}))
}

// mayRemoveUnreadable asks for the permission, which is another one than to delete.
func (c *call) mayRemoveUnreadable() error {
	a := auth.Attributes{
		User: c.user, Verb: "delete", Path: c.info.Path, IsResource: true,
		Group: c.info.Group, Version: c.info.Version, Resource: c.info.Resource,
		Subresource: c.info.Subresource, Namespace: c.info.Namespace, Name: c.info.Name,
	}
	if a.Subresource != "" {
		return apierrors.NewForbidden(c.ep.ServedGR, a.Name, errors.New(ignoreReadErrors+" delete option is not allowed on a subresource or non-resource request"))
	}
	a.Verb = verbDeleteIgnoreErrors
	ok, reason, err := c.s.cfg.Authorizer.Authorize(c.ctx, a)
	switch {
	case err != nil:
		return apierrors.NewForbidden(c.ep.ServedGR, a.Name, fmt.Errorf("error while checking permission for %q, %w", a.Verb, err))
	case !ok:
		return apierrors.NewForbidden(c.ep.ServedGR, a.Name, fmt.Errorf("not permitted to do %q, reason: %s", a.Verb, reason))
	}
	return nil
}

// unreadableAt returns the revision of the named object, or an error if its value is readable.
func (c *call) unreadableAt() (storage.Revision, error) {
	now, err := c.read(c.info.Name, watchcache.ReadAt{})
	var e *watchcache.UnreadableError
	if errors.As(err, &e) {
		return e.Objects[0].Revision, nil
	}
	if err != nil {
		return 0, err
	}
	if _, err := c.decodeCurrent(now); err != nil { // JSON, but not of such an object
		return now.Revision(), nil
	}
	return 0, apistatus.Conflict(c.ep.ServedGR, c.info.Name, fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage", now.Key()))
}

// refuseIgnoringReadErrors refuses the option for a collection.
func refuseIgnoringReadErrors(opts *metav1.DeleteOptions) error {
	if !ignoresReadErrors(opts) {
		return nil
	}
	return apistatus.InvalidOptions("DeleteOptions", field.ErrorList{field.Invalid(field.NewPath(ignoreReadErrors), true,
		"is not allowed with DELETECOLLECTION, try again after removing the option")})
}
