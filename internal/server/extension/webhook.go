package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/resource/custom"
)

// Poster posts a body to a webhook and returns the body of the response.
type Poster interface {
	Post(ctx context.Context, config *admissionv1.WebhookClientConfig, body []byte) ([]byte, error)
}

// Webhooks returns converters that call the definitions' webhooks.
func Webhooks(p Poster) func(*apiextensionsv1.CustomResourceDefinition) custom.Converter {
	return func(d *apiextensionsv1.CustomResourceDefinition) custom.Converter {
		return webhook{p, d.Spec.Conversion.Webhook}
	}
}

// conversionTimeout bounds one call.
const conversionTimeout = 30 * time.Second

// reviewVersions are the supported versions of ConversionReview.
var reviewVersions = []string{"v1", "v1beta1"}

// webhook is a converter that calls a webhook.
type webhook struct {
	poster Poster
	config *apiextensionsv1.WebhookConversion
}

// Convert implements custom.Converter. All objects are sent in one call.
func (w webhook) Convert(ctx context.Context, objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	of := objects[0].GroupVersionKind()
	fail := func(format string, args ...any) ([]*unstructured.Unstructured, error) {
		return nil, fmt.Errorf("conversion webhook for %v "+format, append([]any{of}, args...)...)
	}
	texts, err := w.ask(ctx, objects, to)
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return fail("failed: %v", err) // the webhook's code must not become the code of our response
	}
	if err != nil {
		return fail("failed: %w", err)
	}
	if len(texts) != len(objects) {
		return fail("returned %d objects, expected %d", len(texts), len(objects))
	}
	out := make([]*unstructured.Unstructured, len(objects))
	for i, in := range objects {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(texts[i].Raw); err != nil {
			return fail("returned invalid object at index %d: %w", i, err)
		}
		if got := u.GroupVersionKind().GroupVersion(); got != to {
			return fail("returned invalid object at index %d: invalid groupVersion (expected %v, received %v)", i, to, got)
		}
		if got := u.GetKind(); got != in.GetKind() {
			return fail("returned invalid object at index %d: invalid kind (expected %v, received %v)", i, in.GetKind(), got)
		}
		if err := sameObject(in, u); err != nil {
			return fail("returned invalid object: %w", err)
		}
		if err := restoreMeta(in, u); err != nil {
			return fail("returned invalid metadata: %w", err)
		}
		out[i] = u
	}
	return out, nil
}

// ask sends the objects and returns the converted ones.
func (w webhook) ask(ctx context.Context, objects []*unstructured.Unstructured, to schema.GroupVersion) ([]runtime.RawExtension, error) {
	i := slices.IndexFunc(w.config.ConversionReviewVersions, func(v string) bool { return slices.Contains(reviewVersions, v) })
	if i < 0 {
		return nil, fmt.Errorf("no supported conversion review versions")
	}
	version := w.config.ConversionReviewVersions[i]
	review := apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{Kind: "ConversionReview", APIVersion: apiextensionsv1.GroupName + "/" + version},
		Request:  &apiextensionsv1.ConversionRequest{UID: types.UID(uuid.NewString()), DesiredAPIVersion: to.String()},
	}
	for _, u := range objects {
		review.Request.Objects = append(review.Request.Objects, runtime.RawExtension{Object: u})
	}
	body, err := json.Marshal(&review)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, conversionTimeout)
	defer cancel()
	data, err := w.poster.Post(ctx, clientConfig(w.config.ClientConfig), body)
	if err != nil {
		return nil, err
	}
	var answer apiextensionsv1.ConversionReview
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, err
	}
	r := answer.Response
	switch {
	case version == "v1" && answer.GroupVersionKind() != review.GroupVersionKind():
		return nil, fmt.Errorf("expected webhook response of %v, got %v", review.GroupVersionKind(), answer.GroupVersionKind())
	case r == nil:
		return nil, errors.New("no response provided")
	case version == "v1" && r.UID != review.Request.UID:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", review.Request.UID, r.UID)
	case r.Result.Status != metav1.StatusSuccess && r.Result.Message != "":
		return nil, errors.New(r.Result.Message)
	case r.Result.Status != metav1.StatusSuccess:
		return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", r.Result.Status)
	}
	return r.ConvertedObjects, nil
}

func clientConfig(c *apiextensionsv1.WebhookClientConfig) *admissionv1.WebhookClientConfig {
	out := &admissionv1.WebhookClientConfig{URL: c.URL, CABundle: bytes.TrimSpace(c.CABundle)}
	if s := c.Service; s != nil {
		out.Service = &admissionv1.ServiceReference{Namespace: s.Namespace, Name: s.Name, Path: s.Path, Port: s.Port}
	}
	return out
}

// sameObject returns an error if a conversion has changed the object's identity.
func sameObject(in, out *unstructured.Unstructured) error {
	switch {
	case in.GetName() != out.GetName():
		return fmt.Errorf("must have the same name: %v != %v", in.GetName(), out.GetName())
	case in.GetNamespace() != out.GetNamespace():
		return fmt.Errorf("must have the same namespace: %v != %v", in.GetNamespace(), out.GetNamespace())
	case in.GetUID() != out.GetUID():
		return fmt.Errorf("must have the same UID: %v != %v", in.GetUID(), out.GetUID())
	}
	return nil
}
