package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/rest"
)

// authority issues the certificates of an environment's users and of its webhooks.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// pem is the certificate.
	pem []byte
}

func newAuthority() (*authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: agent},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a := &authority{}
	certificate, _, key, err := a.sign(template)
	if err != nil {
		return nil, err
	}
	a.key, a.pem = key, certificate
	block, _ := pem.Decode(certificate)
	a.cert, err = x509.ParseCertificate(block.Bytes)
	return a, err
}

// sign completes a template with a key, a number and a validity, and issues the certificate, in PEM as its key is. The
// first certificate of an authority is its own.
func (a *authority) sign(template *x509.Certificate) (certificate, keyPEM []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return nil, nil, nil, err
	}
	now := time.Now()
	template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.AddDate(1, 0, 0)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), key, nil
}

// serving issues a certificate for a server on this machine.
func (a *authority) serving() (certificate, key []byte, err error) {
	certificate, key, _, err = a.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost"},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return certificate, key, err
}

// User returns the access of a user with these groups, by a client certificate that is valid for a year. It makes no
// request. Until the test binds a role to the user or a group, RBAC forbids all its requests, unless it is in the group
// system:masters.
func (e *Env) User(name string, groups ...string) *rest.Config {
	if name == "" {
		panic(agent + ": User needs a name")
	}
	certificate, key, _, err := e.authority.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		panic(agent + ": " + err.Error()) // the system has no random numbers
	}
	config := e.Config()
	config.CertData, config.KeyData = certificate, key
	return config
}
