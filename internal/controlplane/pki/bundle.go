package pki

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// bundle is an authority as one JSON text, its parts in PEM form.
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
	key, err := encodeKey(a.key)
	if err != nil {
		return nil, err
	}
	token, err := encodeKey(a.token)
	if err != nil {
		return nil, err
	}
	front, err := encodeKey(a.front.key)
	if err != nil {
		return nil, err
	}
	return json.Marshal(bundle{string(a.pem), string(key), string(token), string(a.front.pem), string(front)})
}

// Unmarshal decodes Marshal's text, for certificates by the clock now.
func Unmarshal(text []byte, now func() time.Time) (*Authority, error) {
	var b bundle
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("the shared keys: %w", err)
	}
	a, err := parse([]byte(b.CertificateAuthority), []byte(b.Key), []byte(b.TokenKey))
	if err == nil && b.FrontProxy != "" {
		a.front, err = parseFront([]byte(b.FrontProxy), []byte(b.FrontProxyKey))
	}
	if err != nil {
		return nil, fmt.Errorf("the shared keys: %w", err)
	}
	if a.now = now; a.front != nil {
		a.front.now = now
	}
	return a, nil
}

// Complete adds the parts that an authority from an earlier release lacks, and reports
// whether there were any.
func (a *Authority) Complete() (changed bool, err error) {
	if a.front != nil {
		return false, nil
	}
	a.front, err = newAuthority(frontProxyName, a.now)
	return err == nil, err
}

// Equal reports whether both are the same authority with the same token key.
func (a *Authority) Equal(b *Authority) bool {
	return bytes.Equal(a.cert.Raw, b.cert.Raw) && a.token.Equal(b.token)
}

// Kept reports whether dir holds an authority.
func Kept(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, caCertFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
