//go:build linux && realnode

package realnode

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// TestCertificateRotates gives a kubelet a certificate that ends soon. The kubelet requests
// another one, which is approved and issued, and uses it.
func TestCertificateRotates(t *testing.T) {
	const current = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	node := cluster.Nodes[0]
	before, err := cluster.Client.CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	must(t, node.Kill("fairlead", "kubelet", "kube-proxy"))
	must(t, node.write("/var/lib/kubelet/pki/old.pem", oldCertificate(t, node.Name)))
	must(t, os.Remove(node.path(current)))
	must(t, os.Symlink("old.pem", node.path(current)))
	must(t, cluster.StartNode(t.Context(), node))

	list := cache.NewListWatchFromClient(cluster.Client.CertificatesV1().RESTClient(), "certificatesigningrequests", "", fields.Everything())
	var issued []byte
	_, err = watchtools.UntilWithSync(ctx, list, &certificatesv1.CertificateSigningRequest{}, nil, func(event watch.Event) (bool, error) {
		request, ok := event.Object.(*certificatesv1.CertificateSigningRequest)
		if !ok || request.Spec.Username != "system:node:"+node.Name || len(request.Status.Certificate) == 0 {
			return false, nil
		}
		known := slices.ContainsFunc(before.Items, func(r certificatesv1.CertificateSigningRequest) bool { return r.UID == request.UID })
		issued = request.Status.Certificate
		return !known, nil
	})
	must(t, err)
	must(t, untilFile(ctx, node.path(current), func() bool {
		target, err := os.Readlink(node.path(current))
		if err != nil {
			return false // it is being replaced
		}
		text, err := os.ReadFile(node.path(target)) // the link is absolute, in the machine
		return err == nil && bytes.Contains(text, bytes.TrimSpace(issued))
	}))
	must(t, cluster.UntilNode(t.Context(), node.Name, "back", back))
	run(t, agnhost(namespace(t), "after", node.Name))
}

// oldCertificate is a node's certificate, with its key, that has a quarter of an hour left of
// ten hours.
func oldCertificate(t *testing.T, node string) []byte {
	t.Helper()
	pki := filepath.Join(cluster.Server.Root(), dataInside, "pki")
	authority, err := cert.CertsFromFile(filepath.Join(pki, "ca.crt"))
	must(t, err)
	signer, err := keyutil.PrivateKeyFromFile(filepath.Join(pki, "ca.key"))
	must(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		Subject:      pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}},
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		NotBefore:    time.Now().Add(-10 * time.Hour), NotAfter: time.Now().Add(15 * time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, authority[0], key.Public(), signer.(crypto.Signer))
	must(t, err)
	public, err := cert.EncodeCertificates(&x509.Certificate{Raw: raw})
	must(t, err)
	private, err := keyutil.MarshalPrivateKeyToPEM(key)
	must(t, err)
	return append(public, private...)
}
