package kubeapiserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/controlplane/pki"
)

// newAuthority returns an authority and the file with its certificate.
func newAuthority(t *testing.T) (*pki.Authority, string) {
	t.Helper()
	a, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, a.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	return a, file
}

// httpClient returns a client with a certificate of the authority, or without one if it is nil.
func httpClient(t *testing.T, a *pki.Authority, name string, groups ...string) *http.Client {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	if a != nil {
		certPEM, keyPEM, err := a.Client(name, groups...)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := tls.X509KeyPair(certPEM, keyPEM)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func host(c *kubernetes.Clientset) string {
	return "https://" + c.Discovery().RESTClient().Get().URL().Host
}

// whoami returns the status code, and the user or else the body.
func whoami(t *testing.T, c *http.Client, host string, header http.Header) (int, authenticationv1.UserInfo, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", host+"/apis/authentication.k8s.io/v1/selfsubjectreviews",
		strings.NewReader(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var review authenticationv1.SelfSubjectReview
	if resp.StatusCode == http.StatusCreated {
		if err := json.Unmarshal(body, &review); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode, review.Status.UserInfo, string(body)
}

// TestFrontProxies: clients with a certificate of the front proxies' CA and an allowed name pass users, in the headers of
// the flags alone.
func TestFrontProxies(t *testing.T) {
	proxies, proxyCA := newAuthority(t)
	clients, clientCA := newAuthority(t)
	as := start(t, "--authorization-mode=RBAC", "--client-ca-file="+clientCA,
		"--requestheader-client-ca-file="+proxyCA, "--requestheader-allowed-names=gate,side-gate",
		"--requestheader-username-headers=X-Login,X-Remote-User", "--requestheader-uid-headers=X-Remote-Uid,X-Number",
		"--requestheader-group-headers=X-Team", "--requestheader-extra-headers-prefix=X-Fact-")
	url := host(as("root-token"))
	headers := http.Header{
		"X-Login": {"bob"}, "X-Remote-User": {"eve"}, "X-Number": {"7"}, "X-Team": {"dev", "ops"}, "X-Remote-Group": {"system:masters"},
		"X-Fact-Example.com%2fscope": {"wide"}, "X-Remote-Extra-Scope": {"other"},
	}
	bob := authenticationv1.UserInfo{
		Username: "bob", UID: "7", Groups: []string{"dev", "ops", "system:authenticated"},
		Extra: map[string]authenticationv1.ExtraValue{"example.com/scope": {"wide"}},
	}
	for _, name := range []string{"gate", "side-gate"} {
		if code, user, body := whoami(t, httpClient(t, proxies, name), url, headers); code != http.StatusCreated || !reflect.DeepEqual(user, bob) {
			t.Errorf("%s: %d %+v %s, want %+v", name, code, user, body, bob)
		}
	}
	second := http.Header{"X-Remote-User": {"eve"}}
	if code, user, body := whoami(t, httpClient(t, proxies, "gate"), url, second); code != http.StatusCreated || user.Username != "eve" {
		t.Errorf("the second header for users: %d %+v %s", code, user, body)
	}
	stranger, _ := newAuthority(t)
	for _, c := range []struct {
		title  string
		client *http.Client
		header http.Header
	}{
		{"another name", httpClient(t, proxies, "ann"), headers},
		{"another CA", httpClient(t, stranger, "gate"), headers},
		{"no user", httpClient(t, proxies, "gate"), http.Header{"X-Team": {"system:masters"}}},
	} {
		if code, user, body := whoami(t, c.client, url, c.header); code != http.StatusUnauthorized {
			t.Errorf("%s: %d %+v %s, want 401", c.title, code, user, body)
		}
	}
	if code, user, _ := whoami(t, httpClient(t, clients, "gate"), url, headers); code != http.StatusCreated || user.Username != "gate" {
		t.Errorf("a client whose name is that of a front proxy: %d %+v", code, user)
	}
	code, _, body := whoami(t, httpClient(t, nil, ""), url, headers)
	if code != http.StatusForbidden || !strings.Contains(body, `User \"system:anonymous\"`) {
		t.Errorf("without a certificate: %d %s", code, body)
	}
	withToken := headers.Clone()
	withToken.Set("Authorization", "Bearer ada-token")
	if code, user, _ := whoami(t, httpClient(t, nil, ""), url, withToken); code != http.StatusCreated || user.Username != "ada" {
		t.Errorf("with a token: %d %+v", code, user)
	}
	trust, err := as("root-token").CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"requestheader-allowed-names":        `["front-proxy-client","gate","side-gate"]`,
		"requestheader-username-headers":     `["X-Remote-User","X-Login"]`,
		"requestheader-uid-headers":          `["X-Remote-Uid","X-Number"]`,
		"requestheader-group-headers":        `["X-Remote-Group","X-Team"]`,
		"requestheader-extra-headers-prefix": `["X-Remote-Extra-","X-Fact-"]`,
	} {
		if trust.Data[key] != want {
			t.Errorf("%s is %s, want %s", key, trust.Data[key], want)
		}
	}
	if ca := trust.Data["requestheader-client-ca-file"]; !strings.Contains(ca, string(proxies.PEM())) || strings.Count(ca, "BEGIN CERTIFICATE") != 2 {
		t.Errorf("the CAs of front proxies are %s", ca)
	}
}

// TestOneAuthority: the CA of front proxies may be that of clients if names tell them apart. Without names, each client
// could pass any user, so the server does not start.
func TestOneAuthority(t *testing.T) {
	authority, ca := newAuthority(t)
	args := []string{"--client-ca-file=" + ca, "--requestheader-client-ca-file=" + ca, "--requestheader-username-headers=X-Remote-User"}
	url := host(start(t, append(args, "--requestheader-allowed-names=gate")...)("root-token"))
	bob := http.Header{"X-Remote-User": {"bob"}}
	for name, want := range map[string]string{"gate": "bob", "ann": "ann"} {
		if code, user, body := whoami(t, httpClient(t, authority, name), url, bob); code != http.StatusCreated || user.Username != want {
			t.Errorf("%s: %d %+v %s, want %s", name, code, user, body, want)
		}
	}
	if err := startFails(t, args...); !strings.Contains(err, "--requestheader-allowed-names") {
		t.Errorf("without names: %s", err)
	}
}

// TestAnyFrontProxy allows each name, and publishes that.
func TestAnyFrontProxy(t *testing.T) {
	proxies, ca := newAuthority(t)
	as := start(t, "--requestheader-client-ca-file="+ca, "--requestheader-username-headers=X-Remote-User")
	for _, header := range []http.Header{{"X-Remote-User": {"bob"}}, {"X-Remote-User": {"bob"}, "X-Remote-Group": {"system:masters"}}} {
		code, user, body := whoami(t, httpClient(t, proxies, "whoever"), host(as("")), header)
		if want := []string{"system:authenticated"}; code != http.StatusCreated || user.Username != "bob" || !reflect.DeepEqual(user.Groups, want) {
			t.Errorf("%d %+v %s, want bob in %q", code, user, body, want)
		}
	}
	trust, err := as("root-token").CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if names := trust.Data["requestheader-allowed-names"]; names != "[]" {
		t.Errorf("the published names are %s", names)
	}
}

// TestHeadersEndHere: an extension server, which trusts the user headers of this server, does not see those of a client.
func TestHeadersEndHere(t *testing.T) {
	_, ca := newAuthority(t)
	as := start(t, "--requestheader-client-ca-file="+ca, "--requestheader-username-headers=X-Login",
		"--requestheader-uid-headers=X-Remote-Uid,X-Number", "--requestheader-group-headers=X-Team", "--requestheader-extra-headers-prefix=X-Fact-")
	root := as("root-token")
	trust, err := root.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	front := x509.NewCertPool()
	front.AppendCertsFromPEM([]byte(trust.Data["requestheader-client-ca-file"]))
	authority, _ := newAuthority(t)
	serving, err := authority.Serving("gadgets.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	extension := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var about []string
		for _, name := range []string{"X-Remote-User", "X-Remote-Uid", "X-Remote-Extra-Scope", "X-Login", "X-Number", "X-Team", "X-Fact-Scope", "X-Other"} {
			if value := r.Header.Get(name); value != "" {
				about = append(about, name+"="+value)
			}
		}
		io.WriteString(w, strings.Join(about, " "))
	}))
	extension.TLS = &tls.Config{Certificates: []tls.Certificate{*serving}, ClientCAs: front, ClientAuth: tls.RequireAndVerifyClientCert}
	extension.StartTLS()
	t.Cleanup(extension.Close)
	t.Cleanup(extension.CloseClientConnections)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "gadgets"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}}
	if _, err := root.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(extension.Listener.Addr().String(), ":")
	body, err := json.Marshal(map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.far.example.com"},
		"spec": map[string]any{
			"group": "far.example.com", "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 5, "caBundle": authority.PEM(),
			"service": map[string]any{"namespace": "default", "name": "gadgets", "port": json.Number(port)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Discovery().RESTClient().Post().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").Body(body).SetHeader("Content-Type", "application/json").Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	ask := func() ([]byte, error) {
		req := root.Discovery().RESTClient().Get().AbsPath("/apis/far.example.com/v1/gadgets")
		for _, name := range []string{"X-Remote-Uid", "X-Remote-Extra-Scope", "X-Login", "X-Number", "X-Team", "X-Fact-Scope", "X-Other"} {
			req.SetHeader(name, "mine")
		}
		return req.DoRaw(t.Context())
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		body, err = ask()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if want := "X-Remote-User=root X-Remote-Uid=1 X-Other=mine"; string(body) != want {
		t.Errorf("the extension server got %s, want %s", body, want)
	}
}
