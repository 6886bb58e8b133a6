package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
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

// Issuer signs tokens with one key and verifies them with the public halves of all accepted keys.
type Issuer struct {
	url      string
	accepted map[string]bool // the names of the issuer
	signer   jose.Signer
	keys     []jose.JSONWebKey
}

// NewIssuer returns an Issuer that signs with key, which is RSA or ECDSA. urls are its names: the first is in new
// tokens, and tokens with any of them are accepted. So are tokens signed with one of the older keys.
func NewIssuer(urls []string, key crypto.Signer, older ...crypto.PublicKey) (*Issuer, error) {
	i := &Issuer{url: urls[0], accepted: map[string]bool{}}
	for _, url := range urls {
		i.accepted[url] = true
	}
	for _, pub := range append([]crypto.PublicKey{key.Public()}, older...) {
		id, err := keyID(pub)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(i.keys, func(k jose.JSONWebKey) bool { return k.KeyID == id }) {
			continue // the signing key's public half is usually among the others
		}
		alg, err := algorithm(pub)
		if err != nil {
			return nil, err
		}
		i.keys = append(i.keys, jose.JSONWebKey{Key: pub, KeyID: id, Algorithm: string(alg), Use: "sig"})
	}
	var err error
	i.signer, err = newSigner(key)
	return i, err
}

// newSigner returns a signer with the key, whose ID is in the header of each token.
func newSigner(key crypto.Signer) (jose.Signer, error) {
	alg, err := algorithm(key.Public())
	if err != nil {
		return nil, err
	}
	id, err := keyID(key.Public())
	if err != nil {
		return nil, err
	}
	return jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
}

// algorithms are those of algorithm.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.ES384, jose.ES512}

// algorithm returns the signature algorithm of a key, as kube-apiserver chooses it.
func algorithm(pub crypto.PublicKey) (jose.SignatureAlgorithm, error) {
	switch k := pub.(type) {
	case *rsa.PublicKey:
		return jose.RS256, nil
	case *ecdsa.PublicKey:
		switch k.Curve.Params().BitSize {
		case 256:
			return jose.ES256, nil
		case 384:
			return jose.ES384, nil
		case 521:
			return jose.ES512, nil
		}
	}
	return "", fmt.Errorf("a service account key must be RSA or ECDSA, on P-256, P-384 or P-521; this is a %T", pub)
}

// URL returns the issuer's name, the iss claim of its tokens.
func (i *Issuer) URL() string { return i.url }

// Sign returns the claims as a signed token, with the issuer filled in.
func (i *Issuer) Sign(c Claims) (string, error) {
	c.Issuer = i.url
	return jwt.Signed(i.signer).Claims(c).Serialize()
}

// read returns the bearer of a token signed by one of the keys. audiences apply to tokens without an audience. It
// returns nil and no error if the token is not a JWT or is from another issuer.
func (i *Issuer) read(token string, audiences []string) (*bearer, error) {
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
		if i.signed(t, &c) {
			return &bearer{Claims: &c, user: user(&c)}, nil
		}
	case unsafe.Issuer == secretIssuer:
		var c secretClaims
		if i.signed(t, &c) {
			return c.bearer(audiences)
		}
	default:
		return nil, nil
	}
	return nil, ErrInvalid
}

// signed decodes the claims of a token if one of the keys signed it.
func (i *Issuer) signed(t *jwt.JSONWebToken, claims any) bool {
	for _, k := range i.keys {
		if len(t.Headers) == 1 && t.Headers[0].KeyID != "" && t.Headers[0].KeyID != k.KeyID {
			continue
		}
		if t.Claims(k.Key, claims) == nil {
			return true
		}
	}
	return false
}

// keyID returns a key's ID as kube-apiserver computes it, the hash of its PKIX form.
func keyID(pub crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}
