package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"slices"
	"sync/atomic"
	"time"
)

const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 365 * 24 * time.Hour
	// clockSkew is how far back a certificate's validity begins, for clients
	// whose clock is behind.
	clockSkew = 5 * time.Minute
)

// CA issues certificates.
type CA struct {
	// now is the clock of the certificates.
	now     func() time.Time
	current atomic.Pointer[caKeys]
	leaves  leaves
}

// caKeys are a CA at one time. They are not changed.
type caKeys struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// cross have the same key, and are signed by the retired CAs, which are still trusted.
	cross, retired []*x509.Certificate
}

func caOf(keys *caKeys, now func() time.Time) *CA {
	c := &CA{now: now}
	c.current.Store(keys)
	return c
}

func newCA(name string, now func() time.Time) (*CA, error) {
	keys, err := newKeys(name, now())
	if err != nil {
		return nil, err
	}
	return caOf(keys, now), nil
}

// newKeys makes a CA of that name.
func newKeys(name string, now time.Time) (*caKeys, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	t, err := authorityTemplate(name, now)
	if err != nil {
		return nil, err
	}
	cert, err := sign(t, t, key.Public(), key)
	return &caKeys{cert: cert, key: key}, err
}

func authorityTemplate(name string, now time.Time) (*x509.Certificate, error) {
	t, err := template(pkix.Name{CommonName: name}, now, authorityLife)
	if err != nil {
		return nil, err
	}
	t.IsCA = true
	t.BasicConstraintsValid = true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign
	return t, nil
}

// template returns one of a certificate that is valid from now.
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

func sign(t, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, t, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// PEM has the certificates of the CA for peers to trust: the one that signs, and retired ones.
func (c *CA) PEM() []byte { return encodeCertificates(c.trusted()...) }

// trusted returns the certificates of PEM.
func (c *CA) trusted() []*x509.Certificate {
	k := c.current.Load()
	return append([]*x509.Certificate{k.cert}, k.retired...)
}

// Pool holds the certificates of PEM.
func (c *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	for _, cert := range c.trusted() {
		pool.AddCert(cert)
	}
	return pool
}

// Signer is the CA's certificate and key, for signing requests in its name, and the certificates that follow a signed one.
func (c *CA) Signer() (cert *x509.Certificate, key crypto.Signer, chain []byte) {
	k := c.current.Load()
	return k.cert, k.key, encodeCertificates(k.cross...)
}

// adopt replaces the keys by those of another CA. Leaf certificates of an unchanged CA stay.
func (c *CA) adopt(next *CA) {
	if !c.same(next) {
		c.current.Store(next.current.Load())
		c.leaves.clear()
	}
}

// same reports whether both have the same certificates.
func (c *CA) same(b *CA) bool {
	equal := func(x, y *x509.Certificate) bool { return bytes.Equal(x.Raw, y.Raw) }
	k, l := c.current.Load(), b.current.Load()
	return k.cert.Equal(l.cert) && slices.EqualFunc(k.cross, l.cross, equal) && slices.EqualFunc(k.retired, l.retired, equal)
}
