package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// TestErrorsBothWays: errors.Is, errors.As and apierrors agree on a server's error, whether
// it is a Status or a bare code.
func TestErrorsBothWays(t *testing.T) {
	for _, x := range []struct {
		code   int
		reason metav1.StatusReason
		is     client.Reason
		by     func(error) bool
	}{
		{404, metav1.StatusReasonNotFound, client.ErrNotFound, apierrors.IsNotFound},
		{409, metav1.StatusReasonConflict, client.ErrConflict, apierrors.IsConflict},
		{409, metav1.StatusReasonAlreadyExists, client.ErrAlreadyExists, apierrors.IsAlreadyExists},
		{422, metav1.StatusReasonInvalid, client.ErrInvalid, apierrors.IsInvalid},
		{403, metav1.StatusReasonForbidden, client.ErrForbidden, apierrors.IsForbidden},
		{401, metav1.StatusReasonUnauthorized, client.ErrUnauthorized, apierrors.IsUnauthorized},
		{429, metav1.StatusReasonTooManyRequests, client.ErrTooManyRequests, apierrors.IsTooManyRequests},
		{410, metav1.StatusReasonExpired, client.ErrExpired, apierrors.IsResourceExpired},
		{410, metav1.StatusReasonGone, client.ErrExpired, apierrors.IsGone},
		{504, metav1.StatusReasonTimeout, client.Reason(metav1.StatusReasonTimeout), apierrors.IsTimeout},
		{404, "", client.ErrNotFound, apierrors.IsNotFound},
		{403, "", client.ErrForbidden, apierrors.IsForbidden},
		{409, "", client.ErrConflict, apierrors.IsConflict},
	} {
		c, _ := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(x.code)
			if x.reason != "" {
				json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
					Status: metav1.StatusFailure, Reason: x.reason, Code: int32(x.code), Message: "no"})
			}
		})
		_, err := client.For[*corev1.Pod](c).Namespace("default").Get(ctx, "web")
		var st *apierrors.StatusError
		if !errors.Is(err, x.is) || !x.by(err) || !errors.As(err, &st) || int(st.ErrStatus.Code) != x.code {
			t.Errorf("%d %s: %v: Is %v, apierrors %v, As %v", x.code, x.reason, err, errors.Is(err, x.is), x.by(err), errors.As(err, &st))
		}
		if other := client.Reason("Other"); errors.Is(err, other) || errors.Is(err, client.ErrSilent) {
			t.Errorf("%v is anything", err)
		}
	}
}
