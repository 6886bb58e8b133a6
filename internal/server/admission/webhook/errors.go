package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failure is a webhook that could not be called or did not respond properly.
type failure struct {
	webhook string
	err     error
	code    int // for the metrics: upstream's code for the failure
}

// Error implements error.
func (f *failure) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", f.webhook, f.err)
}

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// refusal returns the status of a request that a webhook has rejected.
func refusal(webhook string, result *metav1.Status) *apierrors.StatusError {
	s := metav1.Status{}
	if result != nil {
		s = *result
	}
	s.Code = max(s.Code, 0)
	if s.Code < http.StatusBadRequest {
		s.Code = http.StatusBadRequest
	}
	if s.Status == "" || s.Status == metav1.StatusSuccess {
		s.Status = metav1.StatusFailure
	}
	by := fmt.Sprintf("admission webhook %q denied the request", webhook)
	switch {
	case s.Message != "":
		s.Message = by + ": " + s.Message
	case s.Reason != "":
		s.Message = by + ": " + string(s.Reason)
	default:
		s.Message = by + " without explanation"
	}
	return &apierrors.StatusError{ErrStatus: s}
}

// settle turns the error of a call into the error of the request: nil if failures of the webhook are ignored.
func settle(ctx context.Context, h *hook, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if !h.ignores() {
		return apierrors.NewInternalError(f)
	}
	if ctx.Err() != nil {
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	}
	return nil
}
