package controlplane_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// joinToken is the Secret of the token abcdef.0123456789abcdef, with some data changed; "" removes a key.
func joinToken(change map[string]string) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-abcdef", Namespace: "kube-system"},
		Type:       "bootstrap.kubernetes.io/token",
		StringData: map[string]string{
			"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
		},
	}
	maps.Copy(s.StringData, change)
	maps.DeleteFunc(s.StringData, func(_, v string) bool { return v == "" })
	return s
}

// TestBootstrapTokens: a token authenticates while its Secret is complete, and a token that does not is answered by 401.
func TestBootstrapTokens(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{})
	admin := controlplanetest.Clientset(t, cp)
	config := rest.AnonymousClientConfig(cp.Config())
	config.BearerToken = "abcdef.0123456789abcdef"
	node := kubernetes.NewForConfigOrDie(config)
	self := func() (*authenticationv1.SelfSubjectReview, error) {
		return node.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	}
	secrets := admin.CoreV1().Secrets("kube-system")
	set := func(change map[string]string) {
		t.Helper()
		secrets.Delete(t.Context(), "bootstrap-token-abcdef", metav1.DeleteOptions{})
		if _, err := secrets.Create(t.Context(), joinToken(change), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := self(); !apierrors.IsUnauthorized(err) {
		t.Errorf("without a Secret: %v", err)
	}
	set(nil)
	r, err := self()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token", "system:authenticated"}
	if u := r.Status.UserInfo; u.Username != "system:bootstrap:abcdef" || !slices.Equal(u.Groups, want) {
		t.Errorf("the token is of %s, groups %q", u.Username, u.Groups)
	}
	set(map[string]string{"expiration": "2999-01-01T00:00:00Z"})
	if _, err := self(); err != nil {
		t.Errorf("a token that expires later: %v", err)
	}
	for name, change := range map[string]map[string]string{
		"expired":                  {"expiration": "2020-01-01T00:00:00Z"},
		"an expiration in words":   {"expiration": "tomorrow"},
		"not for authentication":   {"usage-bootstrap-authentication": ""},
		"another secret":           {"token-secret": "fedcba9876543210"},
		"another ID":               {"token-id": "fedcba"},
		"a group of another place": {"auth-extra-groups": "system:masters"},
	} {
		set(change)
		if _, err := self(); !apierrors.IsUnauthorized(err) {
			t.Errorf("%s: %v, want 401", name, err)
		}
	}

	// The server's audience is that of a review that names none; other audiences are not a token's.
	set(nil)
	for audience, authenticated := range map[string]bool{"": true, "https://kubernetes.default.svc.cluster.local": true, "vault": false} {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: config.BearerToken, Audiences: strings.Fields(audience)}}
		got, err := admin.AuthenticationV1().TokenReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil || got.Status.Authenticated != authenticated {
			t.Errorf("review for the audience %q: %+v, %v", audience, got.Status, err)
		}
	}
}
