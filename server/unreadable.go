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
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// mostCauses bounds the objects that the answer to a list names.
const mostCauses = 100

// corrupt is what kube-apiserver's storage says of an object whose value cannot be read.
func corrupt(key string, o watchcache.Unreadable) string {
	return fmt.Sprintf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, why(o))
}

func why(o watchcache.Unreadable) string {
	if errors.Is(o.Err, adopt.ErrEncrypted) {
		return "data from the storage is not transformable revision=0: " + o.Err.Error()
	}
	return fmt.Sprintf("object not decodable revision=%d: %v", o.Revision, o.Err)
}

// corruptObject is the answer to a request that needs one object whose value cannot be
// read.
func corruptObject(e *watchcache.UnreadableError) error {
	o := e.Objects[0]
	return apierrors.NewInternalError(errors.New(corrupt("/"+strings.TrimPrefix(o.Key, watchcache.Root), o)))
}

// corruptUpdate makes the answer to an update or a patch of an error in reading the
// object. kube-apiserver does not tell these by the words of a get.
func corruptUpdate(err error) error {
	var e *watchcache.UnreadableError
	switch {
	case !errors.As(err, &e):
		return err
	case errors.Is(err, adopt.ErrEncrypted):
		return apierrors.NewInternalError(errors.New(why(e.Objects[0])))
	}
	return failure(http.StatusInternalServerError, "", why(e.Objects[0]))
}

// corruptRange is the answer to a list or a watch of a range with such objects.
func corruptRange(e *watchcache.UnreadableError) error {
	details := &metav1.StatusDetails{Group: e.Group, Kind: e.Resource, Name: "list"}
	for i, o := range e.Objects {
		if i == mostCauses {
			details.Causes = append(details.Causes, metav1.StatusCause{
				Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated",
			})
			break
		}
		details.Causes = append(details.Causes, metav1.StatusCause{
			Type: metav1.CauseTypeUnexpectedServerResponse, Field: o.Key, Message: corrupt(o.Key, o),
		})
	}
	resource := e.Resource
	if e.Group != "" {
		resource += "." + e.Group
	}
	message := fmt.Sprintf("failed to read one or more %s from the storage: %s", resource, details.Causes[0].Message)
	if n := min(len(e.Objects), mostCauses); n > 1 {
		message += fmt.Sprintf(" (and %d more)", n-1)
	}
	err := failure(http.StatusInternalServerError, metav1.StatusReasonStoreReadError, message)
	err.ErrStatus.Details = details
	return err
}

// CheckStored returns a function that tells why a server of these resources cannot read
// what is stored under a key: nil if it can, or if the key is no object's.
func CheckStored(resources []*resource.Resource) func(*storage.KeyValue) error {
	kinds := map[string]watchcache.Options{}
	for _, r := range resources {
		if r.StoragePrefix != "" && !r.SharesStorage {
			kinds[r.StoragePrefix+"/"] = watchcache.Options{Read: adopt.For(r).Read, TypePrefix: typePrefix(r.StorageGVK())}
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

// removeUnreadable deletes the named object, whose stored value must be one that cannot
// be read. Finalizers, preconditions and admission do not count, since nobody can read
// them, or what to ask them about.
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
		res, err := c.commit(&written{key: c.ep.cache.Key(c.namespace(), c.info.name)}, at, storage.Delete)
		if err != nil {
			return err
		}
		if res.Succeeded {
			c.s.log.Warn("stored object that cannot be read was deleted", "resource", c.ep.gr.String(), "namespace", c.namespace(), "name", c.info.name, "user", userName(c.user))
			break
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	return c.write(http.StatusOK, accept{media: c.accept.media, pretty: c.accept.pretty}, success(&metav1.StatusDetails{
		Name: c.info.name, Kind: c.ep.gvk.Kind,
	}))
}

// mayRemoveUnreadable asks for the right to do so, which is another than to delete.
func (c *call) mayRemoveUnreadable() error {
	a := auth.Attributes{
		User: c.user, Verb: "delete", Path: c.info.path, IsResource: true,
		Group: c.info.group, Version: c.info.version, Resource: c.info.resource,
		Subresource: c.info.subresource, Namespace: c.info.namespace, Name: c.info.name,
	}
	if a.Subresource != "" {
		return apierrors.NewForbidden(c.ep.gr, a.Name, errors.New(ignoreReadErrors+" delete option is not allowed on a subresource or non-resource request"))
	}
	a.Verb = verbDeleteIgnoreErrors
	ok, reason, err := c.s.cfg.Authorizer.Authorize(c.ctx, a)
	switch {
	case err != nil:
		return apierrors.NewForbidden(c.ep.gr, a.Name, fmt.Errorf("error while checking permission for %q, %w", a.Verb, err))
	case !ok:
		return apierrors.NewForbidden(c.ep.gr, a.Name, fmt.Errorf("not permitted to do %q, reason: %s", a.Verb, reason))
	}
	return nil
}

// unreadableAt is the revision of the named object, whose value cannot be read, or an
// error if it can.
func (c *call) unreadableAt() (storage.Revision, error) {
	now, err := c.read(c.info.name, watchcache.ReadAt{})
	var e *watchcache.UnreadableError
	if errors.As(err, &e) {
		return e.Objects[0].Revision, nil
	}
	if err != nil {
		return 0, err
	}
	if _, err := c.decodeNow(now); err != nil { // JSON, but not of such an object
		return now.Revision(), nil
	}
	return 0, conflict(c.ep.gr, c.info.name, fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage", now.Key()))
}

// refuseIgnoringReadErrors refuses the option where it means nothing.
func refuseIgnoringReadErrors(opts *metav1.DeleteOptions) error {
	if !ignoresReadErrors(opts) {
		return nil
	}
	return invalidOptions("DeleteOptions", field.ErrorList{field.Invalid(field.NewPath(ignoreReadErrors), true,
		"is not allowed with DELETECOLLECTION, try again after removing the option")})
}
