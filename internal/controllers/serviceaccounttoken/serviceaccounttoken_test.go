package serviceaccounttoken_test

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// A Secret of an account gets a token that the server accepts until the Secret or the account is gone.
func TestASecretsToken(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"serviceaccounttoken"}})
	c, ctx := env.Client(t), t.Context()
	accounts := client.For[*corev1.ServiceAccount](c).Namespace("default")
	secrets := client.For[*corev1.Secret](c).Namespace("default")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	till, err := accounts.Create(ctx, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: "till"}, Secrets: []corev1.ObjectReference{{Name: "listed"}, {Name: "other"}},
	})
	must(err)
	make := func(name, account string) {
		t.Helper()
		_, err := secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{corev1.ServiceAccountNameKey: account}},
			Type:       corev1.SecretTypeServiceAccountToken, Data: map[string][]byte{"mine": []byte("kept")},
		})
		must(err)
	}
	filled := func(name string) *corev1.Secret {
		t.Helper()
		return waittest.One(t, secrets, name, "filled", func(s *corev1.Secret) bool { return len(s.Data["token"]) > 0 })
	}
	make("key", "till")
	s := filled("key")
	if s.Annotations[corev1.ServiceAccountUIDKey] != string(till.UID) || string(s.Data["namespace"]) != "default" ||
		!strings.HasPrefix(string(s.Data["ca.crt"]), "-----BEGIN CERTIFICATE") || string(s.Data["mine"]) != "kept" {
		t.Errorf("filled: %v, %v", s.Annotations, s.Data)
	}

	whoami := func(token string) (string, error) {
		config := rest.AnonymousClientConfig(env.Config())
		config.BearerToken = token
		them, err := client.New(config, client.Options{})
		must(err)
		review, err := client.For[*authenticationv1.SelfSubjectReview](them).Create(context.Background(), &authenticationv1.SelfSubjectReview{})
		if err != nil {
			return "", err
		}
		return review.Status.UserInfo.Username, nil
	}
	if who, err := whoami(string(s.Data["token"])); who != "system:serviceaccount:default:till" {
		t.Errorf("the token is of %q, %v", who, err)
	}

	make("listed", "till")
	token := string(filled("listed").Data["token"])
	must(secrets.Delete(ctx, "listed"))
	waittest.One(t, accounts, "till", "one secret listed", func(a *corev1.ServiceAccount) bool {
		return len(a.Secrets) == 1 && a.Secrets[0].Name == "other"
	})
	if who, err := whoami(token); !apierrors.IsUnauthorized(err) {
		t.Errorf("when its Secret is gone the token is of %q, %v", who, err)
	}

	make("nobodys", "nobody")
	waittest.Gone(t, secrets, "nobodys")
	must(accounts.Delete(ctx, "till"))
	waittest.Gone(t, secrets, "key")
	if who, err := whoami(string(s.Data["token"])); !apierrors.IsUnauthorized(err) {
		t.Errorf("when its account is gone the token is of %q, %v", who, err)
	}
}
