package controlplane_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// closedKubelet is a kubelet that accepts only the client certificates of a CA, and answers any request for a log with its
// user and groups.
func closedKubelet(t *testing.T, ca func() *x509.CertPool) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		certs := r.TLS.PeerCertificates
		if len(certs) == 0 {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		if _, err := certs[0].Verify(x509.VerifyOptions{Roots: ca(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, "%s %v", certs[0].Subject.CommonName, certs[0].Subject.Organization)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// bound creates a Node of a kubelet and a pod on it.
func bound(t *testing.T, cp *controlplane.ControlPlane, kubelet net.Addr) {
	t.Helper()
	core := controlplanetest.Clientset(t, cp).CoreV1()
	node, err := core.Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "real"}}, metav1.CreateOptions{})
	if err == nil {
		host, port, _ := net.SplitHostPort(kubelet.String())
		n, _ := strconv.Atoi(port)
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "host.invalid"}, {Type: corev1.NodeInternalIP, Address: host}}
		node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(n)
		_, err = core.Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{})
	}
	if err == nil {
		_, err = core.Pods("default").Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec:       corev1.PodSpec{NodeName: "real", AutomountServiceAccountToken: new(bool), Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func logOf(t *testing.T, cp *controlplane.ControlPlane) (string, error) {
	text, err := controlplanetest.Clientset(t, cp).CoreV1().Pods("default").GetLogs("web", &corev1.PodLogOptions{}).DoRaw(t.Context())
	return string(text), err
}

// TestKubeletClientCertificate: a kubelet that is closed to anonymous requests gets a certificate of the server's own CA.
func TestKubeletClientCertificate(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"serviceaccount"}})
	pool := x509.NewCertPool()
	kubelet := closedKubelet(t, func() *x509.CertPool { return pool })
	pool.AppendCertsFromPEM(cp.Config().CAData)
	bound(t, cp, kubelet.Listener.Addr())
	if text, err := logOf(t, cp); err != nil || text != "kube-apiserver-kubelet-client [system:masters]" {
		t.Errorf("the log has %q, %v; want the user of the server's certificate", text, err)
	}
}

// TestKubeletAuthority: with a CA of kubelets, one whose certificate is of another CA is refused before it gets a request.
func TestKubeletAuthority(t *testing.T) {
	pool := x509.NewCertPool()
	kubelet := closedKubelet(t, func() *x509.CertPool { return pool })
	ca := filepath.Join(t.TempDir(), "ca.crt")
	write := func(cert []byte) {
		if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(kubelet.Certificate().Raw)
	known := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"serviceaccount"}, Kubelets: controlplane.Kubelets{CAFile: ca}})
	pool.AppendCertsFromPEM(known.Config().CAData)
	bound(t, known, kubelet.Listener.Addr())
	if text, err := logOf(t, known); err != nil || !strings.HasPrefix(text, "kube-apiserver-kubelet-client") {
		t.Errorf("a kubelet of the CA: %q, %v", text, err)
	}

	block, _ := pem.Decode(known.Config().CAData)
	write(block.Bytes)
	other := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"serviceaccount"}, Kubelets: controlplane.Kubelets{CAFile: ca}})
	bound(t, other, kubelet.Listener.Addr())
	if text, err := logOf(t, other); err == nil || !strings.Contains(text, "certificate signed by unknown authority") {
		t.Errorf("a kubelet of another CA: %q, %v", text, err)
	}
}

// TestKubeletOptions: what cannot be read or is unknown is an error of the option.
func TestKubeletOptions(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for want, k := range map[string]controlplane.Kubelets{
		"want both or neither":            {CertFile: missing},
		"--kubelet-client-certificate: ":  {CertFile: missing, KeyFile: missing},
		"--kubelet-certificate-authority": {CAFile: missing},
		`"Internal" is no type`:           {AddressTypes: []string{"Internal"}},
	} {
		_, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: t.TempDir(), InMemory: true, Listen: "127.0.0.1:0", Kubelets: k})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", k, err, want)
		}
	}
}
