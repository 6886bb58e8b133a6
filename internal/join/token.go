package join

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	bootstraputil "k8s.io/cluster-bootstrap/token/util"
	bootstrapsecrets "k8s.io/cluster-bootstrap/util/secrets"

	"fairlead.dev/client"
)

// Token is a bootstrap token of a cluster.
type Token struct {
	ID     string `json:"id"`
	Secret string `json:"-"`
	// Expires is nil for a token that does not expire.
	Expires     *time.Time `json:"expires,omitempty"`
	Usages      []string   `json:"usages"`
	Groups      []string   `json:"groups,omitempty"`
	Description string     `json:"description,omitempty"`
}

// String returns the token as a node presents it.
func (t Token) String() string { return bootstraputil.TokenFromIDAndSecret(t.ID, t.Secret) }

// TokenOptions describe a new token.
type TokenOptions struct {
	// Token is the token; "" is a random one.
	Token string
	// TTL is how long the token is valid; 0 is for ever.
	TTL         time.Duration
	Description string
	// Usages and Groups are those of the Secret; nil is signing and authentication, and Group.
	Usages, Groups []string
}

// Check returns an error for a value that no token has.
func (o TokenOptions) Check() error {
	if o.Token != "" && !bootstraputil.IsValidBootstrapToken(o.Token) {
		return fmt.Errorf("%q is not a token: want 6 characters, a dot and 16 characters, all of a-z and 0-9", o.Token)
	}
	if o.TTL < 0 {
		return fmt.Errorf("--ttl=%v: want 0, for a token that does not expire, or more", o.TTL)
	}
	if err := bootstraputil.ValidateUsages(o.Usages); err != nil {
		return fmt.Errorf("--usages: %w", err)
	}
	for _, g := range o.Groups {
		if err := bootstraputil.ValidateBootstrapGroupName(g); err != nil {
			return fmt.Errorf("--groups: %w", err)
		}
	}
	return nil
}

// tokens are the Secrets of tokens.
func tokens(c *client.Client) client.Resource[*corev1.Secret] {
	return client.For[*corev1.Secret](c).Namespace(metav1.NamespaceSystem)
}

// CreateToken creates a token.
func CreateToken(ctx context.Context, c *client.Client, o TokenOptions) (t Token, err error) {
	if err := o.Check(); err != nil {
		return t, err
	}
	text := o.Token
	if text == "" {
		if text, err = bootstraputil.GenerateBootstrapToken(); err != nil {
			return t, err
		}
	}
	t = Token{Usages: o.Usages, Groups: o.Groups, Description: o.Description}
	t.ID, t.Secret, _ = strings.Cut(text, ".")
	if t.Usages == nil {
		t.Usages = bootstrapapi.KnownTokenUsages
	}
	if t.Groups == nil {
		t.Groups = []string{Group}
	}
	data := map[string]string{bootstrapapi.BootstrapTokenIDKey: t.ID, bootstrapapi.BootstrapTokenSecretKey: t.Secret}
	if o.TTL > 0 {
		at := time.Now().Add(o.TTL).UTC().Truncate(time.Second)
		t.Expires, data[bootstrapapi.BootstrapTokenExpirationKey] = &at, at.Format(time.RFC3339)
	}
	if t.Description != "" {
		data[bootstrapapi.BootstrapTokenDescriptionKey] = t.Description
	}
	for _, u := range t.Usages {
		data[bootstrapapi.BootstrapTokenUsagePrefix+u] = "true"
	}
	if len(t.Groups) > 0 {
		data[bootstrapapi.BootstrapTokenExtraGroupsKey] = strings.Join(t.Groups, ",")
	}
	_, err = tokens(c).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: bootstraputil.BootstrapTokenSecretName(t.ID), Namespace: metav1.NamespaceSystem},
		Type:       bootstrapapi.SecretTypeBootstrapToken, StringData: data,
	})
	return t, err
}

// AwaitSignature waits until the controller bootstrapsigner has signed cluster-info with a token for signing. A node that reads
// cluster-info before finds that the token is unknown.
func AwaitSignature(ctx context.Context, c *client.Client, t Token) error {
	if !slices.ContainsFunc(t.Usages, func(u string) bool {
		return bootstrapapi.BootstrapTokenUsagePrefix+u == bootstrapapi.BootstrapTokenUsageSigningKey
	}) {
		return nil
	}
	watch, err := client.For[*corev1.ConfigMap](c).Namespace(metav1.NamespacePublic).Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, bootstrapapi.ConfigMapClusterInfo).String(),
	})
	if err != nil {
		return err
	}
	defer watch.Stop()
	for e, err := range watch.Events(ctx) {
		if err != nil {
			return err
		}
		if e.Object.Data[bootstrapapi.JWSSignatureKeyPrefix+t.ID] != "" {
			return nil
		}
	}
	return ctx.Err()
}

// Tokens returns all tokens, sorted by ID.
func Tokens(ctx context.Context, c *client.Client) (all []Token, err error) {
	list, err := tokens(c).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("type", string(bootstrapapi.SecretTypeBootstrapToken)).String()})
	for _, s := range list.Items {
		if id, ok := bootstrapsecrets.ParseName(s.Name); ok {
			all = append(all, tokenOf(id, s))
		}
	}
	return all, err
}

func tokenOf(id string, s *corev1.Secret) Token {
	t := Token{ID: id, Secret: string(s.Data[bootstrapapi.BootstrapTokenSecretKey]), Description: string(s.Data[bootstrapapi.BootstrapTokenDescriptionKey])}
	if at, err := time.Parse(time.RFC3339, string(s.Data[bootstrapapi.BootstrapTokenExpirationKey])); err == nil {
		t.Expires = &at
	}
	for _, u := range slices.Sorted(slices.Values(bootstrapapi.KnownTokenUsages)) {
		if string(s.Data[bootstrapapi.BootstrapTokenUsagePrefix+u]) == "true" {
			t.Usages = append(t.Usages, u)
		}
	}
	if groups := string(s.Data[bootstrapapi.BootstrapTokenExtraGroupsKey]); groups != "" {
		t.Groups = strings.Split(groups, ",")
	}
	return t
}

// DeleteToken deletes the token of an ID, or of a whole token.
func DeleteToken(ctx context.Context, c *client.Client, token string) error {
	id, _, _ := strings.Cut(token, ".")
	if !bootstraputil.IsValidBootstrapTokenID(id) {
		return fmt.Errorf("%q is neither a token nor its ID, the first 6 characters", token)
	}
	return tokens(c).Delete(ctx, bootstraputil.BootstrapTokenSecretName(id))
}

// CAHashes returns the hashes of the public keys of the authorities in PEM, in the form of kubeadm's
// --discovery-token-ca-cert-hash (RFC 7469): sha256: and 64 hexadecimal digits.
func CAHashes(ca []byte) (hashes []string, err error) {
	for block, rest := pem.Decode(ca); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
		hashes = append(hashes, "sha256:"+hex.EncodeToString(sum[:]))
	}
	if len(hashes) == 0 {
		return nil, errors.New("there is no certificate in the authority")
	}
	return hashes, nil
}
