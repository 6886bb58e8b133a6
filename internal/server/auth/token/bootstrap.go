package token

import (
	"context"
	"crypto/subtle"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	bootstrapsecrets "k8s.io/cluster-bootstrap/util/secrets"
	bootstraptokens "k8s.io/cluster-bootstrap/util/tokens"

	"fairlead.dev/internal/server/auth"
)

// Bootstrap returns a Verifier of the tokens by which nodes join: Secrets in kube-system of the type
// bootstrap.kubernetes.io/token, each of the user system:bootstrap:ID. As in kube-apiserver, a token whose Secret is
// expired, being deleted, or not valid is not of its kind.
func Bootstrap(l auth.Lookup) Verifier { return bootstrap{l} }

type bootstrap struct{ lookup auth.Lookup }

// Verify implements Verifier.
func (b bootstrap) Verify(ctx context.Context, token string, _ []string) (*Identity, error) {
	id, secret, err := bootstraptokens.ParseToken(token)
	if err != nil {
		return nil, nil
	}
	obj, err := b.lookup.Get(ctx, secrets, metav1.NamespaceSystem, bootstrapapi.BootstrapTokenSecretPrefix+id)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := obj.(*corev1.Secret)
	has := func(key, value string) bool {
		return subtle.ConstantTimeCompare(s.Data[key], []byte(value)) == 1
	}
	if s.DeletionTimestamp != nil || s.Type != bootstrapapi.SecretTypeBootstrapToken ||
		!has(bootstrapapi.BootstrapTokenSecretKey, secret) || !has(bootstrapapi.BootstrapTokenIDKey, id) ||
		!has(bootstrapapi.BootstrapTokenUsageAuthentication, "true") || bootstrapsecrets.HasExpired(s, time.Now()) {
		return nil, nil
	}
	groups, err := bootstrapsecrets.GetGroups(s)
	if err != nil {
		return nil, nil
	}
	return &Identity{User: auth.Authenticated(&auth.User{Name: bootstrapapi.BootstrapUserPrefix + id, Groups: groups})}, nil
}
