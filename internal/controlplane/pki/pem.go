package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// The types of blocks.
const (
	certificateBlock = "CERTIFICATE"
	privateKeyBlock  = "EC PRIVATE KEY"
	publicKeyBlock   = "PUBLIC KEY"
)

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// blocks returns the DER forms of the blocks of a type.
func blocks(text []byte, kind string) (all [][]byte) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == kind {
			all = append(all, block.Bytes)
		}
	}
	return all
}

func encodeCertificates(all ...*x509.Certificate) (text []byte) {
	for _, c := range all {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: c.Raw})...)
	}
	return text
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: privateKeyBlock, Bytes: der}), nil
}

func parseKeys(text []byte) (all []*ecdsa.PrivateKey, err error) {
	for _, der := range blocks(text, privateKeyBlock) {
		key, err := x509.ParseECPrivateKey(der)
		if err != nil {
			return nil, err
		}
		all = append(all, key)
	}
	if len(all) == 0 {
		err = fmt.Errorf("no %s in PEM form", privateKeyBlock)
	}
	return all, err
}

// encode returns the certificates and the key of a CA.
func (k *caKeys) encode() (certs, key []byte, err error) {
	certs = encodeCertificates(k.cert)
	certs = append(append(certs, encodeCertificates(k.cross...)...), encodeCertificates(k.retired...)...)
	key, err = encodeKey(k.key)
	return certs, key, err
}

// parseCA reads a CA. Of several keys it takes the one of the first certificate. The names are those of the files in errors.
func parseCA(certs, keys []byte, certFile, keyFile string) (*caKeys, error) {
	k := &caKeys{}
	for _, der := range blocks(certs, certificateBlock) {
		c, err := x509.ParseCertificate(der)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", certFile, err)
		case k.cert == nil:
			k.cert = c
		case c.CheckSignatureFrom(c) == nil:
			k.retired = append(k.retired, c)
		default:
			k.cross = append(k.cross, c)
		}
	}
	if k.cert == nil {
		return nil, fmt.Errorf("%s: no %s in PEM form", certFile, certificateBlock)
	}
	all, err := parseKeys(keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	for _, key := range all {
		if key.PublicKey.Equal(k.cert.PublicKey) {
			k.key = key
			return k, nil
		}
	}
	return nil, fmt.Errorf("%s does not belong to %s", keyFile, certFile)
}

func (t *tokenKeys) encode() ([]byte, error) {
	text, err := encodeKey(t.signing)
	for _, key := range t.retired {
		der, failed := x509.MarshalPKIXPublicKey(key)
		err = errors.Join(err, failed)
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: publicKeyBlock, Bytes: der})...)
	}
	return text, err
}

func parseTokenKeys(text []byte) (*tokenKeys, error) {
	all, err := parseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tokenKeyFile, err)
	}
	t := &tokenKeys{signing: all[0]}
	for _, der := range blocks(text, publicKeyBlock) {
		key, err := x509.ParsePKIXPublicKey(der)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tokenKeyFile, err)
		}
		public, ok := key.(*ecdsa.PublicKey)
		if !ok {
			return nil, fmt.Errorf("%s: a %T is no ECDSA key", tokenKeyFile, key)
		}
		t.retired = append(t.retired, public)
	}
	return t, nil
}
