package pki

import (
	"encoding/json"
	"fmt"
	"time"
)

// bundle is an authority as one JSON text, its parts in PEM form, as in the files.
type bundle struct {
	CertificateAuthority string `json:"certificateAuthority"`
	Key                  string `json:"key"`
	TokenKey             string `json:"tokenKey"`
	FrontProxy           string `json:"frontProxy,omitempty"`
	FrontProxyKey        string `json:"frontProxyKey,omitempty"`
}

// Marshal encodes the authority, its private keys included, as one JSON text, which the
// servers of one cluster share.
func (a *Authority) Marshal() ([]byte, error) {
	certs, key, err := a.current.Load().encode()
	if err != nil {
		return nil, err
	}
	token, err := a.tokens.Load().encode()
	if err != nil {
		return nil, err
	}
	front, frontKey, err := a.front.current.Load().encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(bundle{string(certs), string(key), string(token), string(front), string(frontKey)})
}

// Unmarshal decodes Marshal's text, for certificates by the clock now.
func Unmarshal(text []byte, now func() time.Time) (*Authority, error) {
	var b bundle
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("the shared keys: %w", err)
	}
	a, err := b.parse(now)
	if err != nil {
		return nil, fmt.Errorf("the shared keys: %w", err)
	}
	return a, nil
}

// parse puts an authority together. That of an earlier release is not complete.
func (b bundle) parse(now func() time.Time) (*Authority, error) {
	own, err := parseCA([]byte(b.CertificateAuthority), []byte(b.Key), caCertFile, caKeyFile)
	if err != nil {
		return nil, err
	}
	tokens, err := parseTokenKeys([]byte(b.TokenKey))
	if err != nil {
		return nil, err
	}
	a := newAuthority(caOf(own, now), tokens)
	if b.FrontProxy == "" {
		return a, nil
	}
	front, err := parseCA([]byte(b.FrontProxy), []byte(b.FrontProxyKey), frontCertFile, frontKeyFile)
	if err == nil {
		a.front = caOf(front, now)
	}
	return a, err
}
