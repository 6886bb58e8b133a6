package webhook_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"flag"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"fairlead.dev/testenv"
)

// The tests can also run against a real kube-apiserver, which must reach this machine's loopback.
var kubeconfig = flag.String("kubeconfig", "", "run the tests against this API server in place of our own")

// world is an API server and a server of webhooks.
type world struct {
	*kubernetes.Clientset
	config *rest.Config
	hooks  *receiver
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{hooks: receive(t)}
	if *kubeconfig != "" {
		var err error
		if w.config, err = clientcmd.BuildConfigFromFlags("", *kubeconfig); err != nil {
			t.Fatal(err)
		}
	} else {
		w.config = testenv.New(t, testenv.Options{}).Config()
	}
	w.config.QPS = -1
	var err error
	if w.Clientset, err = kubernetes.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
	return w
}

// namespace creates a namespace with the label in=name, for selectors.
func (w *world) namespace(t *testing.T, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"in": name}}}
	if _, err := w.CoreV1().Namespaces().Create(context.Background(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

// settled waits if configurations only take effect after a while.
func settled() {
	if *kubeconfig != "" {
		time.Sleep(1500 * time.Millisecond)
	}
}

func (w *world) mutating(t *testing.T, name string, hooks ...admissionv1.MutatingWebhook) {
	t.Helper()
	c := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: hooks}
	all := w.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if _, err := all.Create(context.Background(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Delete(context.Background(), name, metav1.DeleteOptions{}); settled() })
	settled()
}

func (w *world) validating(t *testing.T, name string, hooks ...admissionv1.ValidatingWebhook) {
	t.Helper()
	c := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: hooks}
	all := w.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := all.Create(context.Background(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Delete(context.Background(), name, metav1.DeleteOptions{}); settled() })
	settled()
}

// validate returns a webhook for config maps of the namespace, served at a path.
func (w *world) validate(path, namespace string, change func(*admissionv1.ValidatingWebhook)) admissionv1.ValidatingWebhook {
	h := admissionv1.ValidatingWebhook{
		Name:                    path + ".example.com",
		ClientConfig:            w.hooks.config(path),
		Rules:                   rules("", "v1", "configmaps"),
		NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"in": namespace}},
		SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
		TimeoutSeconds:          ptr.To[int32](30),
		AdmissionReviewVersions: []string{"v1"},
	}
	if change != nil {
		change(&h)
	}
	return h
}

func (w *world) mutate(path, namespace string, change func(*admissionv1.MutatingWebhook)) admissionv1.MutatingWebhook {
	v := w.validate(path, namespace, nil)
	h := admissionv1.MutatingWebhook{
		Name: v.Name, ClientConfig: v.ClientConfig, Rules: v.Rules, NamespaceSelector: v.NamespaceSelector,
		SideEffects: v.SideEffects, TimeoutSeconds: v.TimeoutSeconds, AdmissionReviewVersions: v.AdmissionReviewVersions,
	}
	if change != nil {
		change(&h)
	}
	return h
}

func rules(group, version string, resources ...string) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.OperationAll},
		Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources},
	}}
}

// receiver is a server of webhooks over TLS.
type receiver struct {
	*httptest.Server
	ca []byte
	mu struct {
		sync.Mutex
		answers map[string]answer
		seen    map[string][]*reviewv1.AdmissionRequest
	}
}

// answer is the response to a review: a status code and a body.
type answer func(q *reviewv1.AdmissionReview) (int, any)

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.mu.answers, r.mu.seen = map[string]answer{}, map[string][]*reviewv1.AdmissionRequest{}
	r.Server = httptest.NewUnstartedServer(r)
	r.TLS, r.ca = certificate(t)
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := req.URL.Path[1:]
	q := &reviewv1.AdmissionReview{}
	if err := json.NewDecoder(req.Body).Decode(q); err != nil || q.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.mu.seen[path] = append(r.mu.seen[path], q.Request)
	f := r.mu.answers[path]
	r.mu.Unlock()
	if f == nil {
		http.NotFound(w, req)
		return
	}
	code, body := f(q)
	switch b := body.(type) {
	case string:
		w.WriteHeader(code)
		io.WriteString(w, b)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (r *receiver) on(path string, f answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.answers[path] = f
	delete(r.mu.seen, path)
}

// forget clears the reviews of a path.
func (r *receiver) forget(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mu.seen, path)
}

// says responds with a valid review, modified by f.
func (r *receiver) says(path string, f func(q *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse)) {
	r.on(path, func(q *reviewv1.AdmissionReview) (int, any) {
		a := &reviewv1.AdmissionResponse{UID: q.Request.UID, Allowed: true}
		if f != nil {
			f(q.Request, a)
		}
		return 200, &reviewv1.AdmissionReview{TypeMeta: q.TypeMeta, Response: a}
	})
}

// asked returns the reviews of a path, except those of the config map that the server's controller creates in every
// namespace at any time.
func (r *receiver) asked(path string) (all []*reviewv1.AdmissionRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.mu.seen[path] {
		if q.Name != "kube-root-ca.crt" {
			all = append(all, q)
		}
	}
	return all
}

func (r *receiver) config(path string) admissionv1.WebhookClientConfig {
	url := r.URL + "/" + path
	return admissionv1.WebhookClientConfig{URL: &url, CABundle: r.ca}
}

func patch(a *reviewv1.AdmissionResponse, text string) {
	a.Patch, a.PatchType = []byte(text), ptr.To(reviewv1.PatchTypeJSONPatch)
}

// certificate returns a certificate for the loopback and for the service hook.shop.
func certificate(t *testing.T) (*tls.Config, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hook"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"hook.shop.svc"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	var ca bytes.Buffer
	if err := pem.Encode(&ca, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, ca.Bytes()
}
