package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	reviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/server/admission/dynamic"
)

// maxAnswer is the maximum size of a response in bytes.
const maxAnswer = 16 << 20

// ask sends the view to the webhook and returns its response, which may be a rejection. Errors are *failure, or a
// status error that fails the request whatever the failurePolicy.
func (c *common) ask(ctx context.Context, h *hook, v *dynamic.View, dryRun, mutating bool) (*reviewv1.AdmissionResponse, error) {
	if dryRun {
		switch {
		case h.SideEffects == nil:
			return nil, &failure{h.Name, fmt.Errorf("Webhook SideEffects is nil"), http.StatusBadRequest}
		case *h.SideEffects != admissionv1.SideEffectClassNone && *h.SideEffects != admissionv1.SideEffectClassNoneOnDryRun:
			return nil, apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.Name))
		}
	}
	uid := types.UID(uuid.NewString())
	body, err := review(h, v, uid)
	if err != nil {
		return nil, &failure{h.Name, fmt.Errorf("could not create admission objects: %w", err), http.StatusBadRequest}
	}
	client, url, err := c.clients.of(&h.ClientConfig)
	if err != nil {
		return nil, &failure{h.Name, fmt.Errorf("could not get REST client: %w", err), http.StatusInternalServerError}
	}
	if s := h.TimeoutSeconds; s != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*s)*time.Second)
		defer cancel()
	}
	answer := &reviewv1.AdmissionReview{}
	if err := post(ctx, client, url, body, answer); err != nil {
		return nil, &failure{h.Name, fmt.Errorf("failed to call webhook: %w", err), codeOf(err)}
	}
	if err := verify(answer, uid, mutating); err != nil {
		return nil, &failure{h.Name, fmt.Errorf("received invalid webhook response: %w", err), http.StatusServiceUnavailable}
	}
	return answer.Response, nil
}

// review returns the body of the call.
func review(h *hook, v *dynamic.View, uid types.UID) ([]byte, error) {
	if !slices.Contains(h.AdmissionReviewVersions, reviewv1.SchemeGroupVersion.Version) {
		return nil, fmt.Errorf("webhook does not accept known AdmissionReview versions (v1)")
	}
	request, err := v.Request()
	if err != nil {
		return nil, err
	}
	request.UID = uid
	if request.Object.Raw, err = v.Text(); err != nil {
		return nil, err
	}
	if request.OldObject.Raw, err = v.OldText(); err != nil {
		return nil, err
	}
	return json.Marshal(&reviewv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: reviewv1.SchemeGroupVersion.String()}, Request: request,
	})
}

// post sends a body and decodes the response.
func post(ctx context.Context, client *http.Client, url string, body []byte, answer *reviewv1.AdmissionReview) error {
	data, err := exchange(ctx, client, url, body)
	if err != nil {
		return err
	}
	return decode(data, answer)
}

// exchange sends a body and returns the body of the response.
func exchange(ctx context.Context, client *http.Client, url string, body []byte) ([]byte, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if d := time.Until(deadline); d > 0 {
			if whole := d.Truncate(time.Second); whole != d {
				d = whole + time.Second
			}
			url += "?timeout=" + d.String()
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", runtime.ContentTypeJSON)
	req.Header.Set("Accept", "application/json, */*")
	req.Header.Set("User-Agent", "kube-apiserver-admission")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case resp.StatusCode < http.StatusOK || resp.StatusCode > http.StatusPartialContent:
		return nil, refused(resp, data)
	case len(data) == 0:
		media := cmp.Or(resp.Header.Get("Content-Type"), runtime.ContentTypeJSON)
		return nil, fmt.Errorf("0-length response with status code: %d and content type: %s", resp.StatusCode, media)
	}
	return data, nil
}

// refused returns the error for an invalid response, worded as by upstream's client.
func refused(resp *http.Response, data []byte) error {
	status := &metav1.Status{}
	if json.Unmarshal(data, status) == nil && status.Kind == "Status" && status.Status != metav1.StatusSuccess {
		return apierrors.FromObject(status)
	}
	message := "unknown"
	if media := resp.Header.Get("Content-Type"); media == "" || strings.HasPrefix(media, "text/") {
		message = strings.TrimSpace(string(data))
	}
	return apierrors.NewGenericServerResponse(resp.StatusCode, http.MethodPost, schema.GroupResource{}, "", message, 0, true)
}
