package webhook_test

import (
	"context"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
)

// warnings are those of a client's requests.
type warnings []string

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	*w = append(*w, text)
}

// TestReviews checks that a webhook that cannot be called does not keep users from asking for their rights, and that its
// author is warned, from 1.37 on.
func TestReviews(t *testing.T) {
	before, err := gates.New(version.MustParse("1.36"))
	if err != nil {
		t.Fatal(err)
	}
	const text = "webhooks[0].rules[1]: selfsubjectaccessreviews.authorization.k8s.io is excluded from admission webhooks; this rule will have no effect"
	for name, c := range map[string]struct {
		api      gates.API
		warnings []string
	}{"1.36": {gates.API{Gates: before}, nil}, "1.37": {gates.API{}, []string{text}}} {
		t.Run(name, func(t *testing.T) {
			config := controlplanetest.Start(t, controlplane.Options{API: c.api}).Config()
			var got warnings
			config.WarningHandlerWithContext = &got
			client := kubernetes.NewForConfigOrDie(config)
			rule := func(group, resource string) admissionv1.RuleWithOperations {
				return admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{
					APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource},
				}}
			}
			_, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionv1.ValidatingWebhookConfiguration{
				ObjectMeta: metav1.ObjectMeta{Name: "w"},
				Webhooks: []admissionv1.ValidatingWebhook{{
					Name: "w.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionv1.SideEffectClassNone),
					ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/")},
					Rules:        []admissionv1.RuleWithOperations{rule("authorization.k8s.io", "*"), rule("authorization.k8s.io", "selfsubjectaccessreviews")},
				}},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.warnings) {
				t.Errorf("warnings %q, want %q", got, c.warnings)
			}
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"},
			}}
			if _, err = client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{}); err != nil {
				t.Errorf("a review: %v", err)
			}
		})
	}
}
