package controllerruntime_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"fairlead.dev/testenv"
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

// TestWebhooks admits ConfigMaps by a defaulter and a validator.
func TestWebhooks(t *testing.T) {
	c := kubernetes.NewForConfigOrDie(testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true}).Config())
	none := admissionregistrationv1.SideEffectClassNone
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{"*"},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	if _, err := c.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "m"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "m.example.com", ClientConfig: serveWebhook(t, admission.WithDefaulter(scheme.Scheme, marker{})), Rules: rules,
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "v"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "v.example.com", ClientConfig: serveWebhook(t, admission.WithValidator(scheme.Scheme, marker{})), Rules: rules,
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	maps := c.CoreV1().ConfigMaps("default")
	made, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	if err != nil || made.Annotations["seen"] != "yes" {
		t.Fatalf("%v: %v", err, made)
	}
	made.Data = map[string]string{"a": "other"}
	_, err = maps.Update(t.Context(), made, metav1.UpdateOptions{})
	const denied = `admission webhook "v.example.com" denied the request: `
	if err == nil || err.Error() != denied+"a stays" {
		t.Error(err)
	}
	bad := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Data: map[string]string{"bad": "x"}}
	if _, err := maps.Create(t.Context(), bad, metav1.CreateOptions{}); err == nil || err.Error() != denied+"bad is not allowed" {
		t.Error(err)
	}
	if err := maps.Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// serveWebhook serves h until the test ends.
func serveWebhook(t *testing.T, h *admission.Webhook) admissionregistrationv1.WebhookClientConfig {
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return admissionregistrationv1.WebhookClientConfig{URL: &s.URL, CABundle: ca}
}
