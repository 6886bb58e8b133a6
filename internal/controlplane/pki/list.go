package pki

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"time"
)

// The states of an Item.
const (
	// Active is one that signs, or is in use.
	Active = "active"
	// Retired is one that is trusted until the rotation is finished.
	Retired = "retired"
	// External is one of the user's files, which this program does not renew.
	External = "external"
)

// Item describes a certificate or a key.
type Item struct {
	Name    string `json:"name"`
	Purpose string `json:"purpose"`
	State   string `json:"state"`
	// Subject and Issuer are of a certificate. The Subject of a token key is its ID.
	Subject string `json:"subject"`
	Issuer  string `json:"issuer,omitempty"`
	// NotAfter is nil for a key, which does not expire.
	NotAfter *time.Time `json:"notAfter,omitempty"`
	// ResidualSeconds is the time until NotAfter; it is negative after it.
	ResidualSeconds *int64 `json:"residualSeconds,omitempty"`
	// File has it, if it is in one.
	File string `json:"file,omitempty"`
}

// Describe returns the Item of a certificate at a time.
func Describe(c *x509.Certificate, now time.Time, i Item) Item {
	i.Subject, i.Issuer = c.Subject.String(), c.Issuer.String()
	residual := int64(c.NotAfter.Sub(now) / time.Second)
	i.NotAfter, i.ResidualSeconds = &c.NotAfter, &residual
	return i
}

// Items describes the CAs and the token keys.
func (a *Authority) Items() (all []Item) {
	for _, ca := range []struct {
		*CA
		name, purpose string
	}{{a.CA, "ca", "signs certificates of servers and clients"}, {a.front, "front-proxy-ca", "signs certificates of front proxies"}} {
		for i, c := range ca.trusted() {
			all = append(all, Describe(c, a.now(), Item{Name: ca.name, Purpose: ca.purpose, State: stateOf(i)}))
		}
	}
	tokens := a.tokens.Load()
	for i, key := range append([]*ecdsa.PublicKey{&tokens.signing.PublicKey}, tokens.retired...) {
		all = append(all, Item{Name: "service-account-key", Purpose: "signs service account tokens", State: stateOf(i), Subject: keyID(key)})
	}
	return all
}

// stateOf returns the state of one of the CAs or keys, of which the first one signs.
func stateOf(i int) string {
	if i == 0 {
		return Active
	}
	return Retired
}

// keyID returns the ID of a key as tokens have it in their header.
func keyID(key *ecdsa.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
