package token

import (
	"context"
	"crypto"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/server/auth"
)

// secretIssuer is the iss claim of tokens stored in Secrets, in every cluster.
const secretIssuer = "kubernetes/serviceaccount"

// secretClaims is the payload of a token stored in a Secret. It has no audience and no expiry, and is valid while
// the Secret holds it.
type secretClaims struct {
	jwt.Claims
	Namespace string `json:"kubernetes.io/serviceaccount/namespace"`
	Secret    string `json:"kubernetes.io/serviceaccount/secret.name"`
	Account   string `json:"kubernetes.io/serviceaccount/service-account.name"`
	UID       string `json:"kubernetes.io/serviceaccount/service-account.uid"`
}

// SecretSigner signs tokens stored in Secrets of the type kubernetes.io/service-account-token.
type SecretSigner struct{ signer jose.Signer }

// NewSecretSigner returns a SecretSigner for an RSA or an ECDSA key. The API server must have its public half.
func NewSecretSigner(key crypto.Signer) (*SecretSigner, error) {
	signer, err := newSigner(key)
	if err != nil {
		return nil, err
	}
	return &SecretSigner{signer}, nil
}

// Sign returns the token of an account for the Secret of that name.
func (s *SecretSigner) Sign(account *corev1.ServiceAccount, secret string) (string, error) {
	return jwt.Signed(s.signer).Claims(secretClaims{
		Claims:    jwt.Claims{Issuer: secretIssuer, Subject: auth.ServiceAccountUser(account.Namespace, account.Name)},
		Namespace: account.Namespace, Secret: secret, Account: account.Name, UID: string(account.UID),
	}).Serialize()
}

// bearer returns the bearer of a token stored in a Secret, for the server's own audiences.
func (c *secretClaims) bearer(audiences []string) (*bearer, error) {
	for name, value := range map[string]string{"namespace": c.Namespace, "secretName": c.Secret, "serviceAccountName": c.Account, "serviceAccountUID": c.UID} {
		if value == "" {
			return nil, errors.New(name + " claim is missing")
		}
	}
	if c.Subject != auth.ServiceAccountUser(c.Namespace, c.Account) {
		return nil, errors.New("sub claim is invalid")
	}
	claims := &Claims{Claims: c.Claims, Kubernetes: Binding{Namespace: c.Namespace, ServiceAccount: Ref{c.Account, c.UID}}}
	claims.Audience = audiences
	return &bearer{Claims: claims, user: user(claims), secret: c.Secret}, nil
}

// invalidSince is the label of Secrets whose tokens are no longer valid.
const invalidSince = "kubernetes.io/legacy-token-invalid-since"

// A SecretUse is one use of a token that a Secret stores.
type SecretUse struct {
	// Subject is the user name of the account.
	Subject string
	Secret  *corev1.Secret // shared
	// Generated reports that the account lists the Secret, as it lists those that old versions of Kubernetes made for it.
	Generated bool
	// Invalid reports that the token was refused, since the Secret is labelled as no longer valid.
	Invalid bool
}

// kept returns an error unless a Secret still holds the token.
func (a *Accounts) kept(ctx context.Context, b *bearer, token string) error {
	namespace, name := b.Kubernetes.Namespace, b.secret
	obj, ok := a.living(ctx, secrets, namespace, name)
	if !ok || obj.GetDeletionTimestamp() != nil {
		return errors.New("Token has been invalidated")
	}
	s, ok := obj.(*corev1.Secret)
	if !ok || subtle.ConstantTimeCompare(s.Data[corev1.ServiceAccountTokenKey], []byte(token)) == 0 {
		return errors.New("Token does not match server's copy")
	}
	use := SecretUse{Subject: b.Subject, Secret: s, Invalid: s.Labels[invalidSince] != ""}
	account, _ := a.living(ctx, serviceAccounts, namespace, b.Kubernetes.ServiceAccount.Name)
	if account, ok := account.(*corev1.ServiceAccount); ok {
		use.Generated = slices.ContainsFunc(account.Secrets, func(r corev1.ObjectReference) bool { return r.Name == name })
	}
	if a.Used != nil {
		a.Used(ctx, use)
	}
	if use.Invalid {
		return fmt.Errorf("the token in secret %s/%s for service account %s/%s has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '%s' label from the secret to temporarily allow use of this token",
			namespace, name, namespace, b.Kubernetes.ServiceAccount.Name, invalidSince)
	}
	return nil
}
