package apistatus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// OptimisticLockError is the message of a conflict by resourceVersion.
const OptimisticLockError = "the object has been modified; please apply your changes to the latest version and try again"

// ErrPathNotFound is answered with a plain 404 without a Status: the path belongs to no API.
var ErrPathNotFound = errors.New("404 page not found")

// Of turns any error into the Status that the client gets.
func Of(err error) *metav1.Status {
	var api apierrors.APIStatus
	var ahead *watchcache.TooNewError
	var unreadable *watchcache.UnreadableError
	switch {
	case errors.As(err, &api):
		s := api.Status()
		if s.Status == "" {
			s.Status = metav1.StatusFailure
		}
		if s.Code == 0 {
			s.Code = http.StatusInternalServerError
		}
		s.Kind, s.APIVersion = "Status", "v1"
		return &s
	case errors.As(err, &unreadable) && unreadable.Range:
		return Of(unreadableRange(unreadable))
	case errors.As(err, &unreadable):
		return Of(unreadableObject(unreadable))
	case errors.As(err, &ahead):
		return Of(tooLarge(ahead))
	case errors.Is(err, storage.ErrCompacted):
		return Of(apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old."))
	case errors.Is(err, storage.ErrTooLarge):
		return Of(apierrors.NewRequestEntityTooLargeError(err.Error()))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Of(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, storage.ErrClosed), errors.Is(err, storage.ErrNotWritten):
		return Of(&apierrors.StatusError{ErrStatus: metav1.Status{
			Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
			Message: "Internal error occurred: " + err.Error(),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: err.Error()}}},
		}})
	}
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: http.StatusInternalServerError,
		Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}
}

// tooLarge returns the error for a resourceVersion that the store has not reached yet.
func tooLarge(e *watchcache.TooNewError) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", e.Requested, e.Current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}

// UnsupportedMediaType returns the error for a body in a media type that is not among those
// accepted.
func UnsupportedMediaType(accepted []string) error {
	return New(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(accepted, ", "))
}

// New returns an error with the given code, reason and message.
func New(code int32, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}

// MethodNotAllowed returns the error for a method that the path does not have.
func MethodNotAllowed() error {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "405: Method Not Allowed", 0, false)
}

// ResourceNotFound returns the error for a resource that a served group does not have.
func ResourceNotFound() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "404: Page Not Found", 0, false)
}

// Success returns the Status of a request that has nothing else to report.
func Success(details *metav1.StatusDetails) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess, Details: details,
	}
}

// Conflict returns a Conflict about an object.
func Conflict(gr schema.GroupResource, name, why string) error {
	return apierrors.NewConflict(gr, name, errors.New(why))
}

// InvalidOptions returns the error for a verb's options that are not valid.
func InvalidOptions(kind string, errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}
