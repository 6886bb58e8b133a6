package objectcache

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/dependencies"
)

// requestAgain is how long a failed request for a certificate is not repeated.
const requestAgain = 5 * time.Second

// watchCertificate requests the certificate of a key and follows the request, until a signer has decided on it or ctx
// ends. A request that is deleted before is made again.
func (c *Cache) watchCertificate(ctx context.Context, key dependencies.Key, o *object, pod *corev1.Pod) {
	requests := client.For[*certificatesv1.PodCertificateRequest](c.Client).Namespace(pod.Namespace)
	for decided := false; !decided && ctx.Err() == nil; {
		r, err := c.request(ctx, pod, dependencies.ProjectionOf(pod, key))
		if err == nil {
			r, err = requests.Create(ctx, r)
		}
		if err != nil {
			c.changed(o, nil, fmt.Errorf("while creating initial PodCertificateRequest: %w", err))
			pause := time.NewTimer(requestAgain)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			pause.Stop()
			continue
		}
		have := map[string]*certificatesv1.PodCertificateRequest{}
		watchAll(ctx, c, key, requests, "metadata.name="+r.Name, have, func(err error) bool {
			now, there := have[r.Name]
			if !there {
				c.changed(o, nil, err)
				return err == nil
			}
			c.changed(o, now, err)
			_, decided = dependencies.Issued(now)
			return decided
		})
	}
}

// request returns a request for a pod's certificate, with the proof of a new key. The key is not kept: the containers of
// simulated nodes do not read it.
func (c *Cache) request(ctx context.Context, pod *corev1.Pod, p *corev1.PodCertificateProjection) (*certificatesv1.PodCertificateRequest, error) {
	account, err := client.For[*corev1.ServiceAccount](c.Client).Namespace(pod.Namespace).Get(ctx, pod.Spec.ServiceAccountName)
	if err != nil {
		return nil, fmt.Errorf("while fetching service account: %w", err)
	}
	node, err := client.For[*corev1.Node](c.Client).Get(ctx, c.Node)
	if err != nil {
		return nil, fmt.Errorf("while fetching node: %w", err)
	}
	stub, err := proof(p.KeyType)
	if err != nil {
		return nil, err
	}
	return &certificatesv1.PodCertificateRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, GenerateName: "req-",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
		},
		Spec: certificatesv1.PodCertificateRequestSpec{
			SignerName: p.SignerName, PodName: pod.Name, PodUID: pod.UID,
			ServiceAccountName: account.Name, ServiceAccountUID: account.UID,
			NodeName: types.NodeName(node.Name), NodeUID: node.UID,
			MaxExpirationSeconds: p.MaxExpirationSeconds, StubPKCS10Request: stub, UnverifiedUserAnnotations: p.UserAnnotations,
		},
	}, nil
}

// proof returns an empty certificate request that a new key of a type has signed.
func proof(keyType string) ([]byte, error) {
	var key crypto.Signer
	var err error
	switch keyType {
	case "RSA3072":
		key, err = rsa.GenerateKey(rand.Reader, 3072)
	case "RSA4096":
		key, err = rsa.GenerateKey(rand.Reader, 4096)
	case "ECDSAP256":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ECDSAP384":
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "ECDSAP521":
		key, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case "ED25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		return nil, fmt.Errorf("while generating keypair: unknown key type %q", keyType)
	}
	if err != nil {
		return nil, fmt.Errorf("while generating keypair: %w", err)
	}
	return x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
}
