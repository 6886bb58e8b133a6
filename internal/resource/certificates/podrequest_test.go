package certificates_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/resource/certificates"
	"fairlead.dev/internal/resource/resourcetest"
)

const podRequest = `
apiVersion: certificates.k8s.io/v1
kind: PodCertificateRequest
metadata: {name: one, namespace: default}
spec:
  signerName: example.com/a
  podName: web
  podUID: u1
  serviceAccountName: sa
  serviceAccountUID: u2
  nodeName: n
  nodeUID: u3
  maxExpirationSeconds: 86400
  stubPKCS10Request: MIG6MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGibiSe59dgtPcZYGJqgLbO3Rme/EkuuoX6fLweAdVPAulLIBYuULX4HGPOFT+en4Y+sIQJ88XwPkCXoq8lfwsegADAKBggqhkjOPQQDAgNIADBFAiEAkVOs8TbVxysleze5E6bpzfoq1QgGEQLpZbdb2D58II8CIA7JzNAU2+epkeZy8PjCdbUfbDQ8W+f0yeURAzvgprtm
`

// Requests with keys on P-224 and of 2,048 bits, and one whose signature is wrong.
const (
	onP224  = `MIGnMFcCAQAwADBOMBAGByqGSM49AgEGBSuBBAAhAzoABN0UMEzaDK48DGVqIgWZMVt6UsX/CiahMLQtW4Cw/otB7mx+ErzIpGuDKknc5WhAU+v+YsnXT1w7oAAwCgYIKoZIzj0EAwIDQAAwPQIdALdA2kMATr/IcL4YcyigV27N90JnHjSaGT1aFaMCHFM24LUTkDXqLUaTk74WBF6OWGjUSC/5+umf1F4=`
	of2048  = `MIICRTCCAS0CAQAwADCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBAKAnb1hdyHWE5QIJM8bZMfigllHbzd2BHMmPBaJREwteDJTfehMfPRIxymW+TJudi4O85IpQs4oUvlZdZEsMWRrxsGL4mdj3hlODVxQGvMWLxyPVO2qnMDNYGzMTXUTKkTa8Nfkc622zskxJMazzEnFRo7ETmpZHN1iPqIB+fhTxMw1OGmsnXRjMoESJNv+OvYDooxWhhynU1M3QXXE0Os7Aop5wFipa5smTFIDooKwi+bdPqe+H3PkMPmYwC/FpaRBscwEcxk7uHt8S156Uhixl+U+s2KFj3gXAST+T+HYm6RLulZHSRX4IL9LAcV2pw7Jvty3NOeb80O+hMcb6VwcCAwEAAaAAMA0GCSqGSIb3DQEBCwUAA4IBAQBF+PixyH3VMdd0QB1I9lUxiWvZnuNWvZV9ivV1s+rqDl9w/xwy3Udsd9ouqG0UdZQ7PifQF5zamWnEuTMbkJ8TZwfRtZ9SjG2efp/J6s8k0DKqVVCdxlatdXI1Kg7Endaty0Z89VxF0mpFZppkfcbR39e/qNMVfAu/GEs662W9C87PGwq6zbCmmEQCDwjFo0A8hCZzNq203gzu3RXYznJN3bvlYujuBfIWoTlbMjxHdGK0F1uLwjfL/QRvTUCpNIScLap+yIRj+2RCTplEphxjupbGME4UeT6pn1ADW82+BEtNsmpte1aGEFqgPV9LOIbti94sZBV8NzSjvE0Mwghl`
	altered = `MIG6MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGibiSe59dgtPcZYGJqgLbO3Rme/EkuuoX6fLweAdVPAulLIBYuULX4HGPOFT+en4Y+sIQJ88XwPkCXoq8lfwsegADAKBggqhkjOPQQDAgNIADBFAiEAkVOs8TbVxysleze5E6bpzfoq1QgGEQLpZbdb2D58II8CIA7JzNAU2+epkeZy8PjCdbUfbDQ8W+f0yeURAzvgprtn`
)

const subdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`

// The errors are those of kube-apiserver 1.36.3, which has the kind as v1beta1.
func TestPodCertificateRequest(t *testing.T) {
	k := resourcetest.New(t, certificates.Resources(), podRequest)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"default expiration", "spec.maxExpirationSeconds: ~"},
		{"longest expiration", "spec.maxExpirationSeconds: 7862400"},
		{"short expiration", "spec.maxExpirationSeconds: 3599",
			"spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]"},
		{"long expiration", "spec.maxExpirationSeconds: 7862401",
			"spec.maxExpirationSeconds: Invalid value: 7862401: must be in the range [3600, 7862400]"},
		{"long expiration of a signer of Kubernetes", "{spec.signerName: a.kubernetes.io/a, spec.maxExpirationSeconds: 86401}",
			"spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]"},
		{"signer", "spec.signerName: a",
			`spec.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		{"no signer", "spec.signerName: ''", "spec.signerName: Required value"},
		{"names", "{spec.podName: A, spec.serviceAccountName: A, spec.nodeName: A}",
			`spec.podName: Invalid value: "A": ` + subdomain, `spec.serviceAccountName: Invalid value: "A": ` + subdomain, `spec.nodeName: Invalid value: "A": ` + subdomain},
		{"no UIDs", "{spec.podUID: '', spec.serviceAccountUID: '', spec.nodeUID: ''}",
			`spec.podUID: Invalid value: "": must not be empty`, `spec.serviceAccountUID: Invalid value: "": must not be empty`, `spec.nodeUID: Invalid value: "": must not be empty`},
		{"long UID", "spec.podUID: " + strings.Repeat("u", 129), "spec.podUID: Too long: may not be more than 128 bytes"},
		{"annotations", "spec.unverifiedUserAnnotations: {Example.com/a: b}"},
		{"annotation without a domain", "spec.unverifiedUserAnnotations: {a: b}",
			`spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`},
		{"no request", "spec.stubPKCS10Request: ~",
			"spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"},
		{"malformed request", "spec.stubPKCS10Request: YQ==", "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR"},
		{"curve", "spec.stubPKCS10Request: " + onP224,
			`spec.stubPKCS10Request: Invalid value: "curve P-224": elliptic public keys must use curve P256, P384, or P521`},
		{"short key", "spec.stubPKCS10Request: " + of2048,
			`spec.stubPKCS10Request: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096`},
		{"signature", "spec.stubPKCS10Request: " + altered, "spec.stubPKCS10Request: Invalid value: invalid signature"},
		{"long request", "spec.stubPKCS10Request: " + base64.StdEncoding.EncodeToString(make([]byte, 10241)),
			"spec.stubPKCS10Request: Too long: may not be more than 10240 bytes"},
	})
	k.Update(t, []resourcetest.Case{{"labels", "metadata.labels: {a: b}"}})
}

const (
	isIssued = `{type: Issued, status: 'True', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}`
	isDenied = `{type: Denied, status: 'True', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}`
	isFailed = `{type: Failed, status: 'True', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}`
)

func TestPodCertificateOutcome(t *testing.T) {
	resourcetest.New(t, certificates.Resources(), podRequest).Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"denied", "status.conditions: [" + isDenied + "]"},
		{"unknown type", "status.conditions: [{type: Approved, status: 'True', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}]",
			`status.conditions.[0].type: Unsupported value: "Approved": supported values: "Issued", "Denied", "Failed"`},
		{"false", "status.conditions: [{type: Denied, status: 'False', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}]",
			`status.conditions.[0].status: Unsupported value: "False": supported values: "True"`},
		{"two outcomes", "status.conditions: [" + isDenied + ", " + isFailed + "]",
			`status.conditions.[1].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"`},
		{"denied with a chain", "{status.conditions: [" + isDenied + "], status.certificateChain: x}",
			"status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest"},
		{"chain without an outcome", "status.certificateChain: x",
			`status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"`},
		{"issued without a chain", "status.conditions: [" + isIssued + "]",
			`status.certificateChain: Invalid value: "": issued certificate chain must contain at least one certificate`},
	})
	resourcetest.New(t, certificates.Resources(), podRequest+"status: {conditions: ["+isDenied+"]}\n").Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"another outcome", "status.conditions: [" + isFailed + "]",
			"status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"},
	})
}

// TestPodCertificateIssued issues certificates that begin now, as a signer must.
func TestPodCertificateIssued(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	// sign returns the change that issues a certificate for the key, valid from the start for a lifetime.
	sign := func(key *ecdsa.PrivateKey, start time.Time, lifetime, refresh time.Duration) string {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: start, NotAfter: start.Add(lifetime)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(map[string]any{
			"status.certificateChain": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) + authority,
			"status.notBefore":        template.NotBefore, "status.notAfter": template.NotAfter, "status.beginRefreshAt": start.Add(refresh),
			"status.conditions": []map[string]string{{"type": "Issued", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-11-23T00:00:00Z"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	foreign := sign(other, now, 2*time.Hour, time.Hour)
	var change struct {
		Chain string `json:"status.certificateChain"`
	}
	if err := json.Unmarshal([]byte(foreign), &change); err != nil {
		t.Fatal(err)
	}
	stamp := func(at time.Time) string { return at.Format(time.RFC3339) }
	request := strings.Replace(podRequest, "stubPKCS10Request: ", "stubPKCS10Request: "+base64.StdEncoding.EncodeToString(asked)+" # ", 1)
	resourcetest.New(t, certificates.Resources(), request).Status(t, []resourcetest.Case{
		{"valid", sign(key, now, 2*time.Hour, time.Hour)},
		{"another key", foreign,
			"status.certificateChain: Invalid value: " + strconv.Quote(change.Chain) + ": leaf certificate was not issued to the requested public key"},
		{"old", sign(key, now.Add(-time.Hour), 2*time.Hour, time.Hour),
			`status.notBefore: Invalid value: "` + stamp(now.Add(-time.Hour)) + `": must be set to within 5 minutes of kube-apiserver's current time`},
		{"short", sign(key, now, time.Hour-time.Second, time.Hour/2),
			`status.certificateChain: Invalid value: 3599000000000: leaf certificate lifetime must be >= 1 hour`},
		{"long", sign(key, now, 25*time.Hour, time.Hour),
			`status.certificateChain: Invalid value: 90000000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)`},
		{"early refresh", sign(key, now, 2*time.Hour, time.Minute),
			`status.beginRefreshAt: Invalid value: "` + stamp(now.Add(time.Minute)) + `": must be at least 10 minutes after status.notBefore`},
		{"late refresh", sign(key, now, 2*time.Hour, 2*time.Hour),
			`status.beginRefreshAt: Invalid value: "` + stamp(now.Add(2*time.Hour)) + `": must be at least 10 minutes before status.notAfter`},
	})
}
