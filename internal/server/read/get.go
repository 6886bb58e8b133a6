package read

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Get answers with one object, or the part of it that a subresource shows.
func Get(c *call.Call) error {
	var opts metav1.GetOptions
	if err := rejectExport(c.Query); err != nil {
		return err
	}
	if err := c.Options(&opts); err != nil {
		return err
	}
	at, err := parseReadAt(opts.ResourceVersion, "", false)
	if err != nil {
		return apistatus.New(http.StatusInternalServerError, "", err.Error())
	}
	if at.Match != watchcache.Any {
		defer c.Within(call.UpdateTimeout)()
	}
	o, err := c.Read(c.Info.Name, at)
	if err != nil {
		return err
	}
	return c.AnswerStored(http.StatusOK, o)
}

// rejectExport rejects the export query parameter, removed in 1.21: a client that still sends
// it would take the object for a stripped one.
func rejectExport(query url.Values) error {
	asked := query["export"]
	if len(asked) == 0 {
		return nil
	}
	var export bool
	if err := runtime.Convert_Slice_string_To_bool(&asked, &export, nil); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the export parameter cannot be parsed: %v", err))
	}
	if export {
		return apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	return nil
}

// parseReadAt parses resourceVersion and resourceVersionMatch of a get or list. Its error is a
// *field.Error, which each verb answers with a code of its own.
func parseReadAt(rv string, match metav1.ResourceVersionMatch, paged bool) (watchcache.ReadAt, error) {
	if rv == "" {
		return watchcache.ReadAt{Match: watchcache.Request}, nil
	}
	rev, err := parseRevision(rv)
	if err != nil {
		return watchcache.ReadAt{}, err
	}
	switch {
	case rev == 0:
		return watchcache.ReadAt{Match: watchcache.Any}, nil
	case match == metav1.ResourceVersionMatchExact, match == "" && paged:
		return watchcache.ReadAt{Match: watchcache.Exact, Revision: rev}, nil
	}
	return watchcache.ReadAt{Match: watchcache.NotOlder, Revision: rev}, nil
}

// parseRevision parses a resourceVersion. Clients may send any 64-bit number; one that no
// store can reach is treated as a future revision.
func parseRevision(rv string) (storage.Revision, error) {
	n, err := strconv.ParseUint(rv, 10, 64)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), rv, err.Error())
	}
	return storage.Revision(min(n, math.MaxInt64)), nil
}
