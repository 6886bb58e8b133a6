package compat

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// services: the endpoints of a Service, ready and not ready, are deleted with the pods.
func services(p *place) {
	p.must(p.c.CoreV1().Services(p.ns).Create(p.ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"a": "b"}},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("serve")}}}}, metav1.CreateOptions{}))
	deploy(p, 3, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "serve", ContainerPort: 8080}}
	})
	complete(p, "created")
	shy := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "shy", Labels: map[string]string{"app": "shy"}, Annotations: map[string]string{"fairlead.dev/not-ready": "true"}}, Spec: podSpec("web:1")}
	shy.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "serve", ContainerPort: 9090}}
	shy.Labels["app"], shy.Labels["shy"] = "web", "yes"
	// The Deployment's selector is wider than its pods: the ReplicaSet's hash keeps this one out.
	p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, shy, metav1.CreateOptions{}))

	slices8080 := see(p, "endpointslices", "", "three ready endpoints", func(s *discoveryv1.EndpointSlice) bool {
		return len(s.Ports) == 1 && ptr.Deref(s.Ports[0].Port, 0) == 8080 && len(s.Endpoints) == 3 &&
			!slices.ContainsFunc(s.Endpoints, func(e discoveryv1.Endpoint) bool { return !ptr.Deref(e.Conditions.Ready, false) })
	})
	p.saw("slice of %v: labels %v, type %s, port %s", slices8080.OwnerReferences[0].Kind, slices8080.Labels, slices8080.AddressType, *slices8080.Ports[0].Name)
	for _, e := range slices8080.Endpoints {
		p.saw("ready %v serving %v terminating %v of a %s", *e.Conditions.Ready, *e.Conditions.Serving, *e.Conditions.Terminating, e.TargetRef.Kind)
	}
	slices9090 := see(p, "endpointslices", "", "one that is not ready", func(s *discoveryv1.EndpointSlice) bool {
		return len(s.Ports) == 1 && ptr.Deref(s.Ports[0].Port, 0) == 9090 && len(s.Endpoints) == 1
	})
	c := slices9090.Endpoints[0].Conditions
	p.saw("ready %v serving %v terminating %v", *c.Ready, *c.Serving, *c.Terminating)
	e := see(p, "endpoints", "web", "the endpoints", func(e *corev1.Endpoints) bool {
		ready, not := 0, 0
		for _, s := range e.Subsets {
			ready, not = ready+len(s.Addresses), not+len(s.NotReadyAddresses)
		}
		return ready == 3 && not == 1
	})
	for _, s := range sortedBy(e.Subsets, func(s corev1.EndpointSubset) string { return fmt.Sprint(s.Ports[0].Port) }) {
		p.saw("%d ready, %d not, at %s %d; labels %v", len(s.Addresses), len(s.NotReadyAddresses), s.Ports[0].Name, s.Ports[0].Port, e.Labels)
	}
	change(p, `{"spec":{"replicas":0}}`)
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "shy", metav1.DeleteOptions{}))
	see(p, "endpoints", "web", "nobody there", func(e *corev1.Endpoints) bool { return len(e.Subsets) == 0 })
	p.must(nil, p.c.CoreV1().Services(p.ns).Delete(p.ctx, "web", metav1.DeleteOptions{}))
	p.away("endpointslices", "")
	p.away("endpoints", "web")
}

// certificate: an approved request is signed, with its signer's usages.
func certificate(p *place) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p.must(key, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: []string{"crew"}}}, key)
	p.must(der, err)
	csr, err := p.c.CertificatesV1().CertificateSigningRequests().Create(p.ctx, &certificatesv1.CertificateSigningRequest{ObjectMeta: named("jane"), Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: certificatesv1.KubeAPIServerClientSignerName,
		ExpirationSeconds: ptr.To[int32](3600), Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature},
	}}, metav1.CreateOptions{})
	p.must(csr, err)
	csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test"})
	p.must(p.c.CertificatesV1().CertificateSigningRequests().UpdateApproval(p.ctx, "jane", csr, metav1.UpdateOptions{}))
	inCluster := *p
	inCluster.ns = ""
	signed := see(&inCluster, "certificatesigningrequests", "jane", "signed", func(r *certificatesv1.CertificateSigningRequest) bool { return len(r.Status.Certificate) > 0 })
	block, _ := pem.Decode(signed.Status.Certificate)
	cert, err := x509.ParseCertificate(block.Bytes)
	p.must(cert, err)
	p.saw("%s by %s, usage %d %v, authority %v", cert.Subject, cert.Issuer, cert.KeyUsage, cert.ExtKeyUsage, cert.IsCA)
}
