package webhook_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// marker is a defaulter and a validator as operators write them.
type marker struct{}

func (marker) Default(_ context.Context, c *corev1.ConfigMap) error {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations["seen"] = "yes"
	return nil
}

func (marker) ValidateCreate(_ context.Context, c *corev1.ConfigMap) (admission.Warnings, error) {
	if c.Annotations["seen"] == "" {
		return nil, errors.New("not defaulted")
	}
	if c.Data["bad"] != "" {
		return nil, errors.New("bad is not allowed")
	}
	return nil, nil
}

func (marker) ValidateUpdate(_ context.Context, old, c *corev1.ConfigMap) (admission.Warnings, error) {
	if old.Data["a"] != c.Data["a"] {
		return nil, errors.New("a stays")
	}
	return nil, nil
}

func (marker) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

// TestControllerRuntime checks that webhooks written with controller-runtime work.
func TestControllerRuntime(t *testing.T) {
	w := start(t)
	w.namespace(t, "runtime")
	serve := func(h *admission.Webhook) admissionv1.WebhookClientConfig {
		s := httptest.NewUnstartedServer(h)
		var ca []byte
		s.TLS, ca = certificate(t)
		s.StartTLS()
		t.Cleanup(s.Close)
		return admissionv1.WebhookClientConfig{URL: &s.URL, CABundle: ca}
	}
	w.mutating(t, "m.example.com", w.mutate("m", "runtime", func(h *admissionv1.MutatingWebhook) {
		h.ClientConfig = serve(admission.WithDefaulter(scheme.Scheme, marker{}))
	}))
	w.validating(t, "v.example.com", w.validate("v", "runtime", func(h *admissionv1.ValidatingWebhook) {
		h.ClientConfig = serve(admission.WithValidator(scheme.Scheme, marker{}))
	}))
	maps := w.CoreV1().ConfigMaps("runtime")
	c, err := maps.Create(background, configMap("c", nil), metav1.CreateOptions{})
	if err != nil || c.Annotations["seen"] != "yes" {
		t.Fatalf("%v: %v", err, c)
	}
	c.Data["a"] = "other"
	_, err = maps.Update(background, c, metav1.UpdateOptions{})
	if got := w.outcome(err, ""); got != `403 Forbidden: admission webhook "v.example.com" denied the request: a stays` {
		t.Error(got)
	}
	bad := configMap("d", nil)
	bad.Data["bad"] = "x"
	_, err = maps.Create(background, bad, metav1.CreateOptions{})
	if got := w.outcome(err, ""); got != `403 Forbidden: admission webhook "v.example.com" denied the request: bad is not allowed` {
		t.Error(got)
	}
	if err := maps.Delete(background, "c", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
