package token

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Key verifies tokens.
type Key struct {
	// ID is in the header of the tokens that it verifies.
	ID     string
	Public crypto.PublicKey
	// Hidden keys only verify tokens of the past, and are not in the documents that others verify tokens with.
	Hidden bool
}

// Signer signs tokens. It must be safe for concurrent use.
type Signer interface {
	// Sign returns the token with the payload.
	Sign(ctx context.Context, payload []byte) (string, error)
	// Keys returns the keys with the ID, or all keys if it is "".
	Keys(ctx context.Context, id string) []Key
	// MaxAge returns how long others may keep the keys.
	MaxAge() time.Duration
}

// keySigner signs with a key of this process.
type keySigner struct {
	signer jose.Signer
	keys   []Key
}

// NewSigner returns a Signer with a key, which is RSA or ECDSA. Tokens signed with one of the older keys are verified, too.
func NewSigner(key crypto.Signer, older ...crypto.PublicKey) (Signer, error) {
	s := &keySigner{}
	for _, pub := range append([]crypto.PublicKey{key.Public()}, older...) {
		id, err := keyID(pub)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.keys, func(k Key) bool { return k.ID == id }) {
			continue // the signing key's public half is usually among the others
		}
		if _, err := algorithm(pub); err != nil {
			return nil, err
		}
		s.keys = append(s.keys, Key{ID: id, Public: pub})
	}
	var err error
	s.signer, err = newSigner(key)
	return s, err
}

// Sign implements Signer.
func (s *keySigner) Sign(_ context.Context, payload []byte) (string, error) {
	signed, err := s.signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// Keys implements Signer.
func (s *keySigner) Keys(_ context.Context, id string) []Key {
	if id == "" {
		return s.keys
	}
	i := slices.IndexFunc(s.keys, func(k Key) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return s.keys[i : i+1]
}

// MaxAge implements Signer.
func (*keySigner) MaxAge() time.Duration { return time.Hour }

// accepting is a Signer that accepts the tokens of another.
type accepting struct {
	Signer
	other Signer
}

// Accepting returns the signer s, which also verifies the tokens of the other one.
func Accepting(s, other Signer) Signer { return accepting{s, other} }

// Keys implements Signer.
func (a accepting) Keys(ctx context.Context, id string) []Key {
	var hidden []Key
	for _, k := range a.other.Keys(ctx, id) {
		hidden = append(hidden, Key{k.ID, k.Public, true})
	}
	if id != "" && hidden != nil {
		return hidden
	}
	return append(hidden, a.Signer.Keys(ctx, id)...)
}

// latest is a Signer whose keys change.
type latest func() Signer

// Latest returns a Signer that asks current, which is called from any goroutine, for the signer of each call.
func Latest(current func() Signer) Signer { return latest(current) }

// Sign implements Signer.
func (l latest) Sign(ctx context.Context, payload []byte) (string, error) {
	return l().Sign(ctx, payload)
}

// Keys implements Signer.
func (l latest) Keys(ctx context.Context, id string) []Key { return l().Keys(ctx, id) }

// MaxAge implements Signer.
func (l latest) MaxAge() time.Duration { return l().MaxAge() }

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

// keyID returns a key's ID as kube-apiserver computes it, the hash of its PKIX form.
func keyID(pub crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}
