package token

import (
	"context"
	"encoding/json"

	"github.com/go-jose/go-jose/v4/jwt"
)

// Claims is the payload of a service account's token.
type Claims struct {
	jwt.Claims
	Kubernetes Binding `json:"kubernetes.io"`
}

// Binding holds the account of a token and the objects it is bound to.
type Binding struct {
	Namespace      string           `json:"namespace,omitempty"`
	ServiceAccount Ref              `json:"serviceaccount"`
	Pod            *Ref             `json:"pod,omitempty"`
	Secret         *Ref             `json:"secret,omitempty"`
	Node           *Ref             `json:"node,omitempty"`
	WarnAfter      *jwt.NumericDate `json:"warnafter,omitempty"`
}

// Ref identifies one object, by name and UID.
type Ref struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// Issuer issues and verifies tokens.
type Issuer struct {
	url      string
	accepted map[string]bool // the names of the issuer
	signer   Signer
}

// NewIssuer returns an Issuer of the tokens that the signer signs. urls are its names: the first is in new tokens, and tokens
// with any of them are accepted.
func NewIssuer(urls []string, signer Signer) *Issuer {
	i := &Issuer{url: urls[0], accepted: map[string]bool{}, signer: signer}
	for _, url := range urls {
		i.accepted[url] = true
	}
	return i
}

// URL returns the issuer's name, the iss claim of its tokens.
func (i *Issuer) URL() string { return i.url }

// Sign returns the claims as a signed token, with the issuer filled in.
func (i *Issuer) Sign(ctx context.Context, c Claims) (string, error) {
	c.Issuer = i.url
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return i.signer.Sign(ctx, payload)
}

// read returns the bearer of a token signed by one of the keys. audiences apply to tokens without an audience. It
// returns nil and no error if the token is not a JWT or is from another issuer.
func (i *Issuer) read(ctx context.Context, token string, audiences []string) (*bearer, error) {
	t, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return nil, nil
	}
	var unsafe jwt.Claims
	if t.UnsafeClaimsWithoutVerification(&unsafe) != nil {
		return nil, nil
	}
	switch {
	case i.accepted[unsafe.Issuer]:
		var c Claims
		if i.signed(ctx, t, &c) {
			return &bearer{Claims: &c, user: user(&c)}, nil
		}
	case unsafe.Issuer == secretIssuer:
		var c secretClaims
		if i.signed(ctx, t, &c) {
			return c.bearer(audiences)
		}
	default:
		return nil, nil
	}
	return nil, ErrInvalid
}

// signed decodes the claims of a token if one of the keys signed it.
func (i *Issuer) signed(ctx context.Context, t *jwt.JSONWebToken, claims any) bool {
	id := ""
	if len(t.Headers) == 1 {
		id = t.Headers[0].KeyID
	}
	for _, k := range i.signer.Keys(ctx, id) {
		if t.Claims(k.Public, claims) == nil {
			return true
		}
	}
	return false
}
