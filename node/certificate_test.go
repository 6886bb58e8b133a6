package node_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// chain returns a certificate for the key of a request, of an hour.
func chain(t *testing.T, r *certificatesv1.PodCertificateRequest) (text string, from, to metav1.Time) {
	t.Helper()
	asked, err := x509.ParseCertificateRequest(r.Spec.StubPKCS10Request)
	if err != nil {
		t.Fatal(err)
	}
	if err := asked.CheckSignature(); err != nil {
		t.Errorf("the proof of the key: %v", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from = metav1.NewTime(time.Now().Truncate(time.Second))
	to = metav1.NewTime(from.Add(time.Hour))
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from.Time, NotAfter: to.Time}
	der, err := x509.CreateCertificate(rand.Reader, leaf, &x509.Certificate{SerialNumber: big.NewInt(2)}, asked.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), from, to
}

// TestPodCertificates: a node requests the certificates of a pod, again if a request is deleted, and the pod runs when they
// are issued; a pod whose request is denied does not.
func TestPodCertificates(t *testing.T) {
	env := served(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start(t, env, node.Options{Count: 1})
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	requests := client.For[*certificatesv1.PodCertificateRequest](env.Client).Namespace("default")
	w, err := requests.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for name, keyType := range map[string]string{"good": "ECDSAP256", "bad": "ED25519"} {
		p := boundPod(name, "node-1", "")
		p.Spec.ServiceAccountName = "default"
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{PodCertificate: &corev1.PodCertificateProjection{
				SignerName: "example.com/s", KeyType: keyType, CredentialBundlePath: "bundle.pem",
			}}},
		}}})
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	decided := map[string]int{}
	for decided["good"] < 2 || decided["bad"] < 1 {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type != watch.Added {
			continue
		}
		r := ev.Object
		if r.Spec.NodeName != "node-1" || r.Spec.NodeUID == "" || r.Spec.ServiceAccountUID == "" || r.Spec.SignerName != "example.com/s" || r.OwnerReferences[0].UID != r.Spec.PodUID {
			t.Errorf("a request is %+v", r)
		}
		decided[r.Spec.PodName]++
		switch {
		case r.Spec.PodName == "bad":
			r.Status.Conditions = []metav1.Condition{{Type: "Denied", Status: "True", Reason: "No", Message: "never", LastTransitionTime: metav1.Now()}}
		case decided["good"] == 1:
			if err := requests.Delete(ctx, r.Name); err != nil {
				t.Fatal(err)
			}
			continue
		default:
			var from, to metav1.Time
			r.Status.CertificateChain, from, to = chain(t, r)
			refresh := metav1.NewTime(from.Add(30 * time.Minute))
			r.Status.NotBefore, r.Status.NotAfter, r.Status.BeginRefreshAt = &from, &to, &refresh
			r.Status.Conditions = []metav1.Condition{{Type: "Issued", Status: "True", Reason: "Issued", LastTransitionTime: metav1.Now()}}
		}
		if _, err := requests.UpdateStatus(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	await(t, pods, "good", "running", running)
	event(t, env, "bad", "FailedMount", `MountVolume.SetUp failed for volume "v" : PodCertificateRequest was permanently denied: reason="No" message="never"`)
}
