package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"testing"
)

// TestApproval checks that the conditions of a certificate request are written through one
// subresource and the certificate through another.
func TestApproval(t *testing.T) {
	c := start(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "joe"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	request := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	csrs := "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	c.must("POST "+csrs, `{"metadata":{"name":"r"},"spec":{"request":"`+request+`","signerName":"example.com/x","usages":["client auth"]}}`)
	approved := `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"Yes"}]`
	merge := " application/merge-patch+json"
	c.talk([]exchange{
		{send: "PATCH " + csrs + "/r" + merge, body: approved + `}}`, code: 200, want: []string{`!Approved`}},
		{send: "PATCH " + csrs + "/r/approval" + merge, body: approved + `,"certificate":"eA=="},"spec":{"signerName":"example.com/y"}}`, code: 200, want: []string{`"type":"Approved"`, `"signerName":"example.com/x"`, `!"certificate":"eA=="`}},
		{send: "GET " + csrs + "/r/approval", code: 200, want: []string{`"type":"Approved"`}},
	})
}
