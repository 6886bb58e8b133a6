package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// optimisticLock is what a client reads whose object has moved on.
const optimisticLock = "the object has been modified; please apply your changes to the latest version and try again"

// errNotFoundPath is answered with the plain 404 of a path nobody serves.
var errNotFoundPath = errors.New("404 page not found")

// statusOf turns any error into the Status a client sees.
func statusOf(err error) *metav1.Status {
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
		return statusOf(corruptRange(unreadable))
	case errors.As(err, &unreadable):
		return statusOf(corruptObject(unreadable))
	case errors.As(err, &ahead):
		return statusOf(tooLarge(ahead))
	case errors.Is(err, storage.ErrCompacted):
		return statusOf(apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old."))
	case errors.Is(err, storage.ErrTooLarge):
		return statusOf(apierrors.NewRequestEntityTooLargeError(err.Error()))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return statusOf(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, storage.ErrClosed), errors.Is(err, storage.ErrNotWritten):
		return statusOf(&apierrors.StatusError{ErrStatus: metav1.Status{
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

// tooLarge is the answer for a revision the store has not reached.
func tooLarge(e *watchcache.TooNewError) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", e.Requested, e.Current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}

// noRepresentation is the answer to an Accept header of foreign media types.
func (o offer) noRepresentation(collection bool) error {
	names := []string(o)
	if collection {
		names = append(slices.Clone(names), o.streams()...)
	}
	err := failure(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(names, ", "))
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}

// notAcceptable is the answer to one that asks for a known media type in a form
// that it does not have.
func (o offer) notAcceptable(header string, stream bool) error {
	names := []string(o)
	if stream {
		if _, ok := o.pick(header, request{}); ok {
			names = o.streams()
		}
	}
	return failure(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: "+strings.Join(names, ", "))
}

func unsupportedMedia(accepted []string) error {
	return failure(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(accepted, ", "))
}

func failure(code int32, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}

func methodNotAllowed() error {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "405: Method Not Allowed", 0, false)
}

func noSuchResource() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "404: Page Not Found", 0, false)
}
