package podcertificaterequestcleaner_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"testing"
	"testing/synctest"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/testenv"
)

// TestOldRequest: a request is there for fifteen minutes.
func TestOldRequest(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	stub, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		env := testenv.New(t, testenv.Options{Bubble: true, NoScheduler: true, NoNodes: true, Controllers: []string{"podcertificaterequestcleaner"}})
		requests := kubernetes.NewForConfigOrDie(env.Config()).CertificatesV1().PodCertificateRequests("default")
		day := int32(86400)
		_, err := requests.Create(t.Context(), &certificatesv1.PodCertificateRequest{
			ObjectMeta: metav1.ObjectMeta{Name: "r"},
			Spec: certificatesv1.PodCertificateRequestSpec{
				SignerName: "example.com/a", PodName: "p", PodUID: "u1", ServiceAccountName: "sa", ServiceAccountUID: "u2",
				NodeName: "n", NodeUID: "u3", MaxExpirationSeconds: &day, StubPKCS10Request: stub,
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(14 * time.Minute)
		if _, err := requests.Get(t.Context(), "r", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := requests.Get(t.Context(), "r", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("an old request: %v", err)
		}
	})
}
