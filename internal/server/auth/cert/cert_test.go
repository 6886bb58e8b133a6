package cert_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/cert"
)

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{}
	a.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, _ = x509.ParseCertificate(der)
	return a
}

func (a authority) issue(t *testing.T, name pkix.Name, until time.Time, usage x509.ExtKeyUsage) *x509.Certificate {
	t.Helper()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: name, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCertificates(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	a := cert.New(roots, time.Now)
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	ann := pkix.Name{CommonName: "ann", Organization: []string{"dev", "ops"}}
	for _, c := range []struct {
		name string
		cert *x509.Certificate
		ok   bool
		err  bool
	}{
		{"none", nil, false, false},
		{"good", ca.issue(t, ann, soon, x509.ExtKeyUsageClientAuth), true, false},
		{"another CA's", stranger.issue(t, ann, soon, x509.ExtKeyUsageClientAuth), false, true},
		{"expired", ca.issue(t, ann, past, x509.ExtKeyUsageClientAuth), false, true},
		{"a server's", ca.issue(t, ann, soon, x509.ExtKeyUsageServerAuth), false, true},
		{"nameless", ca.issue(t, pkix.Name{Organization: []string{"dev"}}, soon, x509.ExtKeyUsageClientAuth), false, false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.TLS = &tls.ConnectionState{}
		if c.cert != nil {
			r.TLS.PeerCertificates = []*x509.Certificate{c.cert}
		}
		for range 2 { // the second verification may be cached
			u, ok, err := a.Authenticate(r)
			if ok != c.ok || (err != nil) != c.err {
				t.Errorf("%s: %v %v", c.name, ok, err)
			}
			if ok && (u.Name != "ann" || !slices.Equal(u.Groups, []string{"dev", "ops", auth.AllAuthenticated})) {
				t.Errorf("%s: %+v", c.name, u)
			}
		}
	}
}
