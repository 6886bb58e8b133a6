package bootstrap_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/server/auth/bootstrap"
)

// authority returns a certificate in PEM that is valid until then.
func authority(t *testing.T, name string, until time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestTrustOfSeveral lets servers that trust different CAs reconcile one ConfigMap: it has all, and comes to rest.
func TestTrustOfSeveral(t *testing.T) {
	later := time.Now().Add(24 * time.Hour)
	one, two, expired := authority(t, "one", later), authority(t, "two", later), authority(t, "expired", time.Now().Add(-time.Hour))
	first := bootstrap.Trust(bootstrap.Options{ClientCA: one, FrontProxyNames: []string{"a"}})
	second := bootstrap.Trust(bootstrap.Options{ClientCA: two, FrontProxyNames: []string{"b"}})
	m := first.DeepCopy()
	m.Data["client-ca-file"] = one + expired
	m, _ = bootstrap.Reconcile(m, second).(*corev1.ConfigMap)
	if m == nil || m.Data["client-ca-file"] != one+two || m.Data["requestheader-allowed-names"] != `["a","b"]` {
		t.Fatalf("%v", m)
	}
	for _, want := range []*corev1.ConfigMap{first, second} {
		if again := bootstrap.Reconcile(m, want); again != nil {
			t.Errorf("it is changed again, to %v", again)
		}
	}
	broken := first.DeepCopy()
	broken.Data["client-ca-file"], broken.Data["requestheader-allowed-names"] = "broken", "broken"
	if m, _ := bootstrap.Reconcile(broken, second).(*corev1.ConfigMap); m == nil || m.Data["client-ca-file"] != two || m.Data["requestheader-allowed-names"] != `["b"]` {
		t.Errorf("a malformed ConfigMap becomes %v", m)
	}
}
