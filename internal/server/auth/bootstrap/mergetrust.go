package bootstrap

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	certutil "k8s.io/client-go/util/cert"
)

// mergeTrust returns a value of the ConfigMap Trust that has all of have and want: servers of one cluster may have different
// flags, and each publishes what it trusts. Certificates that have expired are left out, and so is a value that is malformed.
func mergeTrust(key, have, want string) string {
	if strings.HasSuffix(key, "-ca-file") {
		return mergeCertificates(have, want, time.Now())
	}
	var names, more []string
	_ = json.Unmarshal([]byte(have), &names) // malformed names are none
	_ = json.Unmarshal([]byte(want), &more)
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return array(names)
}

// ReconcileWithout returns a Reconcile of the ConfigMap Trust that takes out certificates, except for those that are trusted.
func ReconcileWithout(retired, trusted []*x509.Certificate) func(have, want runtime.Object) runtime.Object {
	return func(have, want runtime.Object) runtime.Object {
		m, ok := have.(*corev1.ConfigMap)
		if !ok {
			return Reconcile(have, want)
		}
		less := m.DeepCopy()
		for key, text := range less.Data {
			if strings.HasSuffix(key, "-ca-file") {
				less.Data[key] = withoutCertificates(text, retired, trusted)
			}
		}
		if out := Reconcile(less, want); out != nil {
			return out
		}
		if maps.Equal(less.Data, m.Data) {
			return nil
		}
		return less
	}
}

// withoutCertificates returns the certificates in PEM that are not retired, or that are trusted.
func withoutCertificates(text string, retired, trusted []*x509.Certificate) string {
	all, err := certutil.ParseCertsPEM([]byte(text))
	gone := func(c *x509.Certificate) bool {
		return slices.ContainsFunc(retired, c.Equal) && !slices.ContainsFunc(trusted, c.Equal)
	}
	if err != nil || !slices.ContainsFunc(all, gone) {
		return text
	}
	var left bytes.Buffer
	for _, c := range all {
		if !gone(c) {
			_ = pem.Encode(&left, &pem.Block{Type: certutil.CertificateBlockType, Bytes: c.Raw}) // a Buffer takes all
		}
	}
	return left.String()
}

// mergeCertificates returns all certificates in PEM, without those that have expired.
func mergeCertificates(have, want string, now time.Time) string {
	old, err := certutil.ParseCertsPEM([]byte(have))
	if err != nil {
		return want
	}
	wanted, _ := certutil.ParseCertsPEM([]byte(want)) // none are wanted if the text is empty
	expired := func(c *x509.Certificate) bool { return now.After(c.NotAfter) }
	lacks := slices.ContainsFunc(wanted, func(c *x509.Certificate) bool { return !slices.ContainsFunc(old, c.Equal) })
	if !lacks && !slices.ContainsFunc(old, expired) {
		return have
	}
	var all []*x509.Certificate
	var text bytes.Buffer
	for _, c := range slices.Concat(old, wanted) {
		if !expired(c) && !slices.ContainsFunc(all, c.Equal) {
			all = append(all, c)
			_ = pem.Encode(&text, &pem.Block{Type: certutil.CertificateBlockType, Bytes: c.Raw}) // a Buffer takes all
		}
	}
	return text.String()
}
