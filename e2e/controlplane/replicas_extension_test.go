package controlplane_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/pki"
)

// TestReplicasPassOn: several servers share an etcd cluster and an APIService. Each checks the
// extension server's availability and can write the APIService's condition, which then holds
// for all. Each proxies requests, with a client certificate that they share.
func TestReplicasPassOn(t *testing.T) {
	etcd := startEtcd(t)
	cpA, a := startReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: etcd})
	cpB, b := startReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: etcd})
	ca, port, stop := serveGadgets(t, b)
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "gadgets", Namespace: "default"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}}
	if _, err := client.For[*corev1.Service](a).Namespace("default").Create(t.Context(), svc); err != nil {
		t.Fatal(err)
	}
	service := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.far.example.com"}, Spec: apiregistrationv1.APIServiceSpec{
		Group: "far.example.com", Version: "v1", GroupPriorityMinimum: 2000, VersionPriority: 5, CABundle: ca,
		Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "gadgets", Port: &port},
	}}
	if _, err := client.For[*apiregistrationv1.APIService](a).Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	saysAtBoth := func(reason string) {
		t.Helper()
		for _, c := range []*client.Client{b, a} {
			awaitReason(t, c, service.Name, reason)
		}
	}
	ask := func(cp *controlplane.ControlPlane) string {
		t.Helper()
		config := cp.Config()
		api, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := api.Get(config.Host + "/apis/far.example.com/v1/gadgets")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(resp.StatusCode, " ", string(text))
	}
	saysAtBoth("Passed")
	for _, cp := range []*controlplane.ControlPlane{cpB, cpA} {
		if got := ask(cp); got != "200 kubernetes-admin asks for /apis/far.example.com/v1/gadgets" {
			t.Error(got)
		}
	}
	// A change of the service makes both check it. The condition of the first holds for both.
	stop()
	look := client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"look": "again"}}})
	if _, err := client.For[*corev1.Service](a).Namespace("default").Patch(t.Context(), svc.Name, look); err != nil {
		t.Fatal(err)
	}
	saysAtBoth("FailedDiscoveryCheck")
	for _, cp := range []*controlplane.ControlPlane{cpB, cpA} {
		if got := ask(cp); !strings.HasPrefix(got, "503 ") {
			t.Errorf("without the extension server: %s", got)
		}
	}
}

// serveGadgets answers with the user of a request, to clients with a front proxy's
// certificate from the CA that the cluster publishes.
func serveGadgets(t *testing.T, c *client.Client) (ca []byte, port int32, stop func()) {
	t.Helper()
	trust, err := client.For[*corev1.ConfigMap](c).Namespace("kube-system").Get(t.Context(), "extension-apiserver-authentication")
	if err != nil {
		t.Fatal(err)
	}
	front := x509.NewCertPool()
	front.AppendCertsFromPEM([]byte(trust.Data["requestheader-client-ca-file"]))
	authority, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := authority.Serving("gadgets.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s asks for %s", r.Header.Get("X-Remote-User"), r.URL.Path)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}, ClientCAs: front, ClientAuth: tls.RequireAndVerifyClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return authority.PEM(), int32(s.Listener.Addr().(*net.TCPAddr).Port), func() {
		s.CloseClientConnections()
		s.Close()
	}
}

// awaitReason waits until the API service's condition, as read from a server, has the
// reason.
func awaitReason(t *testing.T, c *client.Client, name, reason string) {
	t.Helper()
	services := client.For[*apiregistrationv1.APIService](c)
	list, err := services.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	has := func(s *apiregistrationv1.APIService) bool {
		return s.Name == name && len(s.Status.Conditions) == 1 && s.Status.Conditions[0].Reason == reason
	}
	for _, s := range list.Items {
		if has(s) {
			return
		}
	}
	w, err := services.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion, FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		e, err := w.Next(t.Context())
		if err != nil {
			t.Fatalf("never %s: %v", reason, err)
		}
		if has(e.Object) {
			return
		}
	}
}
