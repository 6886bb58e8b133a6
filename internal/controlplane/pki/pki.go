// Package pki makes and keeps the keys of one control plane: a certificate
// authority that signs the server's certificate and its clients', another one for
// front proxies, and the key that signs service account tokens. All keys are ECDSA P-256: they take less
// than a millisecond to make, so a new control plane costs no wait.
//
// The authorities and the token key live as long as the data directory; server
// and client certificates are issued anew at every start, from the same
// authorities, so kubeconfigs written by earlier starts keep working until they
// expire.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 365 * 24 * time.Hour
	// clockSkew is how far back a certificate's validity begins, for clients
	// whose clock is behind.
	clockSkew = 5 * time.Minute
)

// Names of the files in a directory; keys are 0600.
const (
	caCertFile    = "ca.crt"
	caKeyFile     = "ca.key"
	tokenKeyFile  = "sa.key"
	frontCertFile = "front-proxy-ca.crt"
	frontKeyFile  = "front-proxy-ca.key"
)

// Authority signs certificates and holds the token key. It is safe for concurrent use, once it
// is complete.
type Authority struct {
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	token *ecdsa.PrivateKey
	pem   []byte
	front *Authority
	// now is the clock of the certificates that it issues.
	now    func() time.Time
	recent recent
}

// frontProxyName is that of the authority of front proxies.
const frontProxyName = "fairlead-front-proxy-ca"

// New makes an authority that is kept nowhere, whose certificates go by the clock now: time.Now, if not by virtual time.
func New(now func() time.Time) (*Authority, error) {
	a, err := newAuthority("fairlead-ca", now)
	if err != nil {
		return nil, err
	}
	if a.token, err = newKey(); err != nil {
		return nil, err
	}
	_, err = a.Complete()
	return a, err
}

// newAuthority makes an authority of that name, which signs only certificates.
func newAuthority(name string, now func() time.Time) (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template, err := template(pkix.Name{CommonName: name}, now(), authorityLife)
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Authority{cert: cert, key: key, pem: encode("CERTIFICATE", der), now: now}, nil
}

// Load reads the authority in dir, or creates one there. It is an error if the directory
// has only part of one: no file is overwritten.
func Load(dir string) (*Authority, error) {
	certPEM, err := os.ReadFile(filepath.Join(dir, caCertFile))
	if errors.Is(err, fs.ErrNotExist) {
		return create(dir)
	}
	if err != nil {
		return nil, err
	}
	keyPEM, err := os.ReadFile(filepath.Join(dir, caKeyFile))
	if err != nil {
		return nil, err
	}
	tokenPEM, err := os.ReadFile(filepath.Join(dir, tokenKeyFile))
	if err != nil {
		return nil, err
	}
	a, err := parse(certPEM, keyPEM, tokenPEM)
	if err == nil {
		err = a.loadFront(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return a, nil
}

// loadFront reads the authority of front proxies. It creates it in a directory of an earlier
// release.
func (a *Authority) loadFront(dir string) error {
	certPEM, err := os.ReadFile(filepath.Join(dir, frontCertFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := a.Complete(); err != nil {
			return err
		}
		return a.writeFront(dir)
	}
	if err != nil {
		return err
	}
	keyPEM, err := os.ReadFile(filepath.Join(dir, frontKeyFile))
	if err != nil {
		return err
	}
	a.front, err = parseFront(certPEM, keyPEM)
	return err
}

// writeFront writes the certificate last: with it, all is there.
func (a *Authority) writeFront(dir string) error {
	if err := writeKey(filepath.Join(dir, frontKeyFile), a.front.key); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, frontCertFile), a.front.pem, 0o644)
}

func parseFront(certPEM, keyPEM []byte) (*Authority, error) {
	cert, key, err := parsePair(certPEM, keyPEM, frontCertFile, frontKeyFile)
	if err != nil {
		return nil, err
	}
	return &Authority{cert: cert, key: key, pem: certPEM, now: time.Now}, nil
}

// parsePair reads an authority's certificate and its key, which come from the files
// named.
func parsePair(certPEM, keyPEM []byte, certFile, keyFile string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certDER, err := decode(certPEM, "CERTIFICATE")
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", certFile, err)
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", certFile, err)
	}
	key, err := parseKey(keyPEM)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, fmt.Errorf("%s does not belong to %s", keyFile, certFile)
	}
	return cert, key, nil
}

// parse puts an authority together from the PEM forms of its parts.
func parse(certPEM, keyPEM, tokenPEM []byte) (*Authority, error) {
	cert, key, err := parsePair(certPEM, keyPEM, caCertFile, caKeyFile)
	if err != nil {
		return nil, err
	}
	token, err := parseKey(tokenPEM)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tokenKeyFile, err)
	}
	return &Authority{cert: cert, key: key, token: token, pem: certPEM, now: time.Now}, nil
}

// create makes an authority and writes it to dir.
func create(dir string) (*Authority, error) {
	a, err := New(time.Now)
	if err != nil {
		return nil, err
	}
	return a, a.Write(dir)
}

// Write writes the authority to an empty dir. It writes the certificate, which Load looks for, last, so that after
// an interruption Load creates an authority anew.
func (a *Authority) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		key  *ecdsa.PrivateKey
	}{{caKeyFile, a.key}, {tokenKeyFile, a.token}} {
		if err := writeKey(filepath.Join(dir, f.name), f.key); err != nil {
			return err
		}
	}
	if err := a.writeFront(dir); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, caCertFile), a.pem, 0o644)
}

// CertificatePEM is the authority's certificate, for clients to trust.
func (a *Authority) CertificatePEM() []byte { return a.pem }

// Pool holds the authority alone, to verify client certificates with.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// FrontProxy is the authority for the certificates of front proxies, which may name the
// user of a request: of this server, when it proxies requests. It has no token key.
func (a *Authority) FrontProxy() *Authority { return a.front }

// Signer is the authority's certificate and key, for signing requests in its name.
func (a *Authority) Signer() (*x509.Certificate, crypto.Signer) { return a.cert, a.key }

// TokenKey signs service account tokens.
func (a *Authority) TokenKey() *ecdsa.PrivateKey { return a.token }

// Serving issues a server certificate for the given host names and addresses. Calls with the same ones within an hour get
// the same certificate.
func (a *Authority) Serving(hosts ...string) (tls.Certificate, error) {
	p, err := a.recent.get("serving "+strings.Join(hosts, " "), a.now(), func() (p pair, err error) {
		t, err := template(pkix.Name{CommonName: "fairlead"}, a.now(), certificateLife)
		if err != nil {
			return p, err
		}
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		for _, h := range hosts {
			if ip := net.ParseIP(h); ip != nil {
				t.IPAddresses = append(t.IPAddresses, ip)
			} else {
				t.DNSNames = append(t.DNSNames, h)
			}
		}
		if p.cert, p.key, err = a.issue(t); err == nil {
			p.serving, err = tls.X509KeyPair(p.cert, p.key)
		}
		return p, err
	})
	return p.serving, err
}

// Client issues a client certificate: Kubernetes reads the user's name from its
// common name and the groups from its organizations. Calls with the same ones within an hour get the same certificate.
func (a *Authority) Client(user string, groups ...string) (certPEM, keyPEM []byte, err error) {
	p, err := a.recent.get(fmt.Sprintf("client %q %q", user, groups), a.now(), func() (p pair, err error) {
		t, err := template(pkix.Name{CommonName: user, Organization: groups}, a.now(), certificateLife)
		if err != nil {
			return p, err
		}
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		p.cert, p.key, err = a.issue(t)
		return p, err
	})
	return p.cert, p.key, err
}

func (a *Authority) issue(t *x509.Certificate) (certPEM, keyPEM []byte, err error) {
	key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return encode("CERTIFICATE", der), encode("EC PRIVATE KEY", keyDER), nil
}

func template(subject pkix.Name, now time.Time, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(life),
	}, nil
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func writeKey(path string, key *ecdsa.PrivateKey) error {
	text, err := encodeKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return encode("EC PRIVATE KEY", der), nil
}

func parseKey(text []byte) (*ecdsa.PrivateKey, error) {
	der, err := decode(text, "EC PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	return x509.ParseECPrivateKey(der)
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func decode(b []byte, kind string) ([]byte, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("no %s in PEM form", kind)
	}
	return block.Bytes, nil
}
