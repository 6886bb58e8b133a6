package apistatus

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/adopt"
	"fairlead.dev/watchcache"
)

// maxCauses bounds the objects that the error of a list names.
const maxCauses = 100

// corrupt words an unreadable object as kube-apiserver's storage does.
func corrupt(key string, o watchcache.Unreadable) string {
	return fmt.Sprintf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, why(o))
}

// why words the reason that an object is unreadable.
func why(o watchcache.Unreadable) string {
	if isUndecrypted(o.Err) {
		return "data from the storage is not transformable revision=0: " + o.Err.Error()
	}
	return fmt.Sprintf("object not decodable revision=%d: %v", o.Revision, o.Err)
}

// isUndecrypted reports whether a value is unreadable because it is encrypted.
func isUndecrypted(err error) bool {
	return errors.Is(err, adopt.ErrEncrypted) || errors.As(err, new(*watchcache.OpenError))
}

// unreadableObject returns the error of a request that needs one unreadable object.
func unreadableObject(e *watchcache.UnreadableError) error {
	o := e.Objects[0]
	return apierrors.NewInternalError(errors.New(corrupt("/"+strings.TrimPrefix(o.Key, watchcache.Root), o)))
}

// UnreadableForUpdate returns the error of an update or a patch whose object could not be
// read. kube-apiserver words it differently from that of a get. Other errors are returned as
// they are.
func UnreadableForUpdate(err error) error {
	var e *watchcache.UnreadableError
	switch {
	case !errors.As(err, &e):
		return err
	case isUndecrypted(err):
		return apierrors.NewInternalError(errors.New(why(e.Objects[0])))
	}
	return New(http.StatusInternalServerError, "", why(e.Objects[0]))
}

// unreadableRange returns the error of a list or watch of a range that has unreadable objects.
func unreadableRange(e *watchcache.UnreadableError) error {
	details := &metav1.StatusDetails{Group: e.Group, Kind: e.Resource, Name: "list"}
	for i, o := range e.Objects {
		if i == maxCauses {
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
	if n := min(len(e.Objects), maxCauses); n > 1 {
		message += fmt.Sprintf(" (and %d more)", n-1)
	}
	err := New(http.StatusInternalServerError, metav1.StatusReasonStoreReadError, message)
	err.ErrStatus.Details = details
	return err
}
