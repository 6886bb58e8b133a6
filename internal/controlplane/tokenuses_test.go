package controlplane_test

import (
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// TestGeneratedToken: a response to a request with a token whose Secret its account lists has kube-apiserver's warning, as has
// a review of such a token. The token of another Secret has no warning.
func TestGeneratedToken(t *testing.T) {
	const warning = "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens."
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"serviceaccount", "serviceaccounttoken"}})
	c := controlplanetest.Client(t, cp)
	accounts, secrets := client.For[*corev1.ServiceAccount](c).Namespace("default"), client.For[*corev1.Secret](c).Namespace("default")
	waittest.One(t, accounts, "default", "the account of pods", func(*corev1.ServiceAccount) bool { return true })
	tokens := map[string]string{}
	for _, name := range []string{"generated", "manual"} {
		_, err := secrets.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}}, Type: corev1.SecretTypeServiceAccountToken,
		})
		if err != nil {
			t.Fatal(err)
		}
		waittest.One(t, secrets, name, "its token", func(s *corev1.Secret) bool {
			tokens[name] = string(s.Data[corev1.ServiceAccountTokenKey])
			return tokens[name] != ""
		})
	}
	_, err := accounts.Patch(t.Context(), "default", client.MergePatch(map[string]any{"secrets": []map[string]string{{"name": "generated"}}}))
	if err != nil {
		t.Fatal(err)
	}
	var got warnings
	use := func(config *rest.Config, send func(*kubernetes.Clientset) error) []string {
		t.Helper()
		config.WarningHandler = &got
		if err := send(kubernetes.NewForConfigOrDie(config)); err != nil {
			t.Fatal(err)
		}
		return got.take()
	}
	for name, want := range map[string][]string{"generated": {warning}, "manual": nil} {
		as := rest.AnonymousClientConfig(cp.Config())
		as.BearerToken = tokens[name]
		texts := use(as, func(c *kubernetes.Clientset) error {
			_, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			return err
		})
		if !slices.Equal(texts, want) {
			t.Errorf("a request with the token %s: %q", name, texts)
		}
		texts = use(cp.Config(), func(c *kubernetes.Clientset) error {
			r, err := c.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: tokens[name]}}, metav1.CreateOptions{})
			if err == nil && !r.Status.Authenticated {
				t.Errorf("%s is no token: %+v", name, r.Status)
			}
			return err
		})
		if !slices.Equal(texts, want) {
			t.Errorf("a review of the token %s: %q", name, texts)
		}
	}
}
