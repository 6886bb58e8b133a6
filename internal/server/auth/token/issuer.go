package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

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
	url    string
	signer jose.Signer
	keys   []jose.JSONWebKey
}

// NewIssuer returns an Issuer named url that signs ES256 with key. Tokens signed with one of the older keys are
// still accepted.
func NewIssuer(url string, key *ecdsa.PrivateKey, older ...*ecdsa.PublicKey) (*Issuer, error) {
	if key.Curve != elliptic.P256() {
		return nil, errors.New("the key of a service account issuer must be on P-256")
	}
	i := &Issuer{url: url}
	for _, pub := range append([]*ecdsa.PublicKey{&key.PublicKey}, older...) {
		id, err := keyID(pub)
		if err != nil {
			return nil, err
		}
		i.keys = append(i.keys, jose.JSONWebKey{Key: pub, KeyID: id, Algorithm: string(jose.ES256), Use: "sig"})
	}
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.ES256,
		Key:       jose.JSONWebKey{Key: key, KeyID: i.keys[0].KeyID},
	}, nil)
	i.signer = signer
	return i, err
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
	t, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil, nil
	}
	var unsafe jwt.Claims
	if t.UnsafeClaimsWithoutVerification(&unsafe) != nil {
		return nil, nil
	}
	switch unsafe.Issuer {
	case i.url:
		var c Claims
		if i.signed(t, &c) {
			return &bearer{Claims: &c, user: user(&c)}, nil
		}
	case secretIssuer:
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

// GenerateKey makes a key for an Issuer.
func GenerateKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// EncodeKey encodes a key as PEM.
func EncodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// ParseKey decodes the result of EncodeKey.
func ParseKey(data []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("no PEM block in the service account key")
	}
	if block.Type != "EC PRIVATE KEY" {
		return nil, fmt.Errorf("the service account key is a %q, not an EC PRIVATE KEY", block.Type)
	}
	return x509.ParseECPrivateKey(block.Bytes)
}
