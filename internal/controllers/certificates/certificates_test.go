package certificates_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

type csrs = client.Resource[*certificatesv1.CertificateSigningRequest]

func start(t *testing.T) (*testenv.Env, csrs) {
	t.Helper()
	server := testenv.New(t, testenv.Options{Controllers: []string{"certificates"}})
	return server, client.For[*certificatesv1.CertificateSigningRequest](server.Client(t))
}

func request(t *testing.T, name, signer string, r *x509.CertificateRequest, usages ...certificatesv1.KeyUsage) (*certificatesv1.CertificateSigningRequest, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, r, key)
	if err != nil {
		t.Fatal(err)
	}
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: signer, Usages: usages,
		},
	}, key
}

func kubelet(name string) *x509.CertificateRequest {
	return &x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}}}
}

func issued(c *certificatesv1.CertificateSigningRequest) bool { return len(c.Status.Certificate) > 0 }

func approve(t *testing.T, api csrs, name string) {
	t.Helper()
	c, err := api.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	c.Status.Conditions = append(c.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test", Message: "by hand"})
	if _, err := api.UpdateSubresource(t.Context(), c, "approval"); err != nil {
		t.Fatal(err)
	}
}

// TestApprovedIsSignedAndLetsIn checks that a user's request, approved by an administrator, yields a certificate by
// which the server authenticates the user.
func TestApprovedIsSignedAndLetsIn(t *testing.T) {
	server, api := start(t)
	csr, key := request(t, "jane", certificatesv1.KubeAPIServerClientSignerName,
		&x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: []string{"dev"}}},
		certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature)
	seconds := int32(3600)
	csr.Spec.ExpirationSeconds = &seconds
	if _, err := api.Create(t.Context(), csr); err != nil {
		t.Fatal(err)
	}
	approve(t, api, "jane")
	done := waittest.One(t, api, "jane", "a certificate", issued)
	block, _ := pem.Decode(done.Status.Certificate)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if life := cert.NotAfter.Sub(cert.NotBefore); life != 65*time.Minute || cert.IsCA || !slices.Equal(cert.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}) {
		t.Errorf("lives %v, CA %v, usages %v", life, cert.IsCA, cert.ExtKeyUsage)
	}

	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(server.Config())
	config.CertData, config.KeyData = done.Status.Certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*corev1.Pod](c).Namespace("default").List(t.Context()); err == nil || !strings.Contains(err.Error(), `User "jane" cannot list resource "pods"`) {
		t.Error(err)
	}
}

// TestKubeletsAreApproved checks a kubelet with the permission, and one that gets it by a later binding.
func TestKubeletsAreApproved(t *testing.T) {
	server, api := start(t)
	bind := func(role string) {
		t.Helper()
		if _, err := client.For[*rbacv1.ClusterRoleBinding](server.Client(t)).Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "bootstrappers-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:bootstrappers"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	bind("system:node-bootstrapper")
	bound := time.Now()
	config := server.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:bootstrap:abcdef", Groups: []string{"system:bootstrappers"}}
	boot, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	csr, _ := request(t, "node-csr", certificatesv1.KubeAPIServerClientKubeletSignerName, kubelet("n1"),
		certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature)
	for { // the authorizer reads caches, which see the binding a moment later
		_, err := client.For[*certificatesv1.CertificateSigningRequest](boot).Create(t.Context(), csr)
		if err == nil {
			break
		}
		if !apierrors.IsForbidden(err) || time.Since(bound) > time.Minute {
			t.Fatal(err)
		}
	}
	bind("system:certificates.k8s.io:certificatesigningrequests:nodeclient")
	got := waittest.One(t, api, "node-csr", "a certificate", issued)
	if c := got.Status.Conditions; len(c) != 1 || c[0].Reason != "AutoApproved" || c[0].Message != "Auto approving kubelet client certificate after SubjectAccessReview." {
		t.Errorf("%+v", c)
	}
}

// TestWhatASignerDoesNotSignFails checks requests that were approved against the signer's rules.
func TestWhatASignerDoesNotSignFails(t *testing.T) {
	_, api := start(t)
	noSAN, _ := request(t, "no-san", certificatesv1.KubeletServingSignerName, kubelet("n1"), certificatesv1.UsageServerAuth, certificatesv1.UsageDigitalSignature)
	withIP := kubelet("n1")
	withIP.IPAddresses = []net.IP{net.IPv4(10, 0, 0, 1)}
	wrongUsage, _ := request(t, "wrong-usage", certificatesv1.KubeletServingSignerName, withIP, certificatesv1.UsageClientAuth)
	other, _ := request(t, "other", "example.com/other", withIP, certificatesv1.UsageClientAuth)
	right, _ := request(t, "right", certificatesv1.KubeletServingSignerName, withIP, certificatesv1.UsageServerAuth, certificatesv1.UsageDigitalSignature)
	for _, c := range []*certificatesv1.CertificateSigningRequest{noSAN, wrongUsage, other, right} {
		if _, err := api.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		approve(t, api, c.Name)
	}
	for name, message := range map[string]string{
		"no-san":      "DNS or IP subjectAltName is required",
		"wrong-usage": "usages did not match [digital signature key encipherment server auth]",
	} {
		c := waittest.One(t, api, name, "its failure", func(c *certificatesv1.CertificateSigningRequest) bool { return len(c.Status.Conditions) == 2 })
		if f := c.Status.Conditions[1]; f.Type != certificatesv1.CertificateFailed || f.Reason != "SignerValidationFailure" || f.Message != message {
			t.Errorf("%s: %+v", name, f)
		}
	}
	waittest.One(t, api, "right", "a certificate", issued)
	if c, err := api.Get(t.Context(), "other"); err != nil || issued(c) || len(c.Status.Conditions) != 1 {
		t.Errorf("%+v %v", c.Status, err)
	}
}
