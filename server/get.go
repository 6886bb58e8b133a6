package server

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// get answers with one object, or the part of it that a subresource shows.
func get(c *call) error {
	var opts metav1.GetOptions
	if err := c.rejectExport(); err != nil {
		return err
	}
	if err := c.options(&opts); err != nil {
		return err
	}
	at, err := parseReadAt(opts.ResourceVersion, "", false)
	if err != nil {
		return apistatus.New(http.StatusInternalServerError, "", err.Error())
	}
	if at.Match != watchcache.Any {
		defer c.within(updateTimeout)()
	}
	o, err := c.read(c.info.Name, at)
	if err != nil {
		return err
	}
	return c.answerStored(http.StatusOK, o)
}

// rejectExport rejects the export query parameter, removed in 1.21: a client that still sends
// it would take the object for a stripped one.
func (c *call) rejectExport() error {
	asked := c.query["export"]
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

// read returns an object of the watch cache, or NotFound.
func (c *call) read(name string, at watchcache.ReadAt) (*watchcache.Object, error) {
	o, _, err := c.ep.Cache.Get(c.ctx, c.namespace(), name, at)
	if c.redefined() {
		return nil, errRedefined
	}
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, c.notFound(name)
	}
	return o, nil
}

// answers has buffers for responses of one object.
var answers = sync.Pool{New: func() any { return new([]byte) }}

// roomiestAnswer is how many bytes of such memory are kept.
const roomiestAnswer = 64 << 10

// answerStored answers with an object of the watch cache.
func (c *call) answerStored(code int, o *watchcache.Object) error {
	f, err := c.form()
	if err != nil {
		return err
	}
	if err := f.CheckShape(false); err != nil {
		return err
	}
	buf := answers.Get().(*[]byte)
	defer answers.Put(buf)
	element, err := f.AppendElement((*buf)[:0], o)
	if err != nil {
		return err
	}
	if cap(element) <= roomiestAnswer {
		*buf = element[:0]
	}
	body, err := f.Body(element, o.Revision().String())
	if err != nil {
		return err
	}
	return c.writeBytes(code, f.Media.String(), body)
}

// answerTyped answers with an object of the hub version.
func (c *call) answerTyped(code int, obj runtime.Object, rev string) error {
	f, err := c.form()
	if err != nil {
		return err
	}
	if err := f.CheckShape(false); err != nil {
		return err
	}
	element, err := f.Encode(obj)
	if err != nil {
		return err
	}
	body, err := f.Body(element, rev)
	if err != nil {
		return err
	}
	return c.writeBytes(code, f.Media.String(), body)
}

// parseReadAt parses resourceVersion and resourceVersionMatch of a get or list. Its error is a
// *field.Error, which each verb answers with a code of its own.
func parseReadAt(rv string, match metav1.ResourceVersionMatch, paged bool) (watchcache.ReadAt, error) {
	if rv == "" {
		return watchcache.ReadAt{Match: watchcache.Latest}, nil
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
