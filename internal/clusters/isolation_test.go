package clusters_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/clusters"
	"fairlead.dev/internal/controlplane"
)

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

// logged is a log that a test reads.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// credentials are the ways in which an administrator can make others of a control plane: its own certificate, a token of
// a service account, and a certificate that its signer has issued.
func credentials(t *testing.T, admin *rest.Config) map[string]*rest.Config {
	t.Helper()
	ctx, c := t.Context(), kubernetes.NewForConfigOrDie(admin)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "intruder", Namespace: "default"}}
	if _, err := c.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "intruder"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "intruder"}, {APIGroup: rbacv1.GroupName, Kind: "Group", Name: "intruders"}},
	}
	if _, err := c.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := c.CoreV1().ServiceAccounts("default").CreateToken(ctx, "intruder", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bearer := rest.AnonymousClientConfig(admin)
	bearer.BearerToken, bearer.QPS = token.Status.Token, -1
	return map[string]*rest.Config{"kubeconfig": admin, "token": bearer, "signed certificate": signed(t, c, admin)}
}

// signed is a client whose certificate the control plane has issued by a CertificateSigningRequest.
func signed(t *testing.T, c kubernetes.Interface, admin *rest.Config) *rest.Config {
	t.Helper()
	ctx := t.Context()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "intruder", Organization: []string{"intruders"}}}, key)
	if err != nil {
		t.Fatal(err)
	}
	requests := c.CertificatesV1().CertificateSigningRequests()
	request, err := requests.Create(ctx, &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "intruder"}, Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: certificatesv1.KubeAPIServerClientSignerName,
		Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := requests.Watch(ctx, metav1.ListOptions{ResourceVersion: request.ResourceVersion, FieldSelector: "metadata.name=intruder"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test"}}
	if _, err := requests.UpdateApproval(ctx, "intruder", request, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for e := range w.ResultChan() {
		if issued := e.Object.(*certificatesv1.CertificateSigningRequest).Status.Certificate; len(issued) > 0 {
			encoded, err := x509.MarshalECPrivateKey(key)
			if err != nil {
				t.Fatal(err)
			}
			config := rest.AnonymousClientConfig(admin)
			config.CertData, config.KeyData = issued, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})
			return config
		}
	}
	t.Fatal("the watch of the CertificateSigningRequest ended")
	return nil
}

// read sends a request for a path, which is not cleaned, and returns the status and the body.
func read(ctx context.Context, t *testing.T, config *rest.Config, base, path string) (int, string) {
	t.Helper()
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	u.Opaque = "//" + u.Host + path
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(ctx)
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// No credential of one control plane opens another, nor the server, except those that a fork has inherited.
func TestIsolation(t *testing.T) {
	ctx := t.Context()
	s := serve(t, controlplane.Options{Controllers: []string{"*"}})
	all := map[string]*rest.Config{
		"a": s.create(t, "a", clusters.Spec{}), "b": s.create(t, "b", clusters.Spec{}),
	}
	before := credentials(t, all["a"])
	all["one"], all["two"] = s.create(t, "one", forkOf("a")), s.create(t, "two", forkOf("a"))
	made := map[string]map[string]*rest.Config{"a": before, "b": credentials(t, all["b"]), "": {"kubeconfig": s.Config()}}
	for _, name := range []string{"one", "two"} {
		if _, err := kubernetes.NewForConfigOrDie(all[name]).CoreV1().ServiceAccounts("default").Get(ctx, "intruder", metav1.GetOptions{}); err != nil {
			t.Fatal(err) // the fork has the objects
		}
		c := kubernetes.NewForConfigOrDie(all[name])
		token, err := c.CoreV1().ServiceAccounts("default").CreateToken(ctx, "intruder", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		bearer := rest.AnonymousClientConfig(all[name])
		bearer.BearerToken = token.Status.Token
		if err := c.CertificatesV1().CertificateSigningRequests().Delete(ctx, "intruder", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		made[name] = map[string]*rest.Config{"kubeconfig": all[name], "token": bearer, "signed certificate": signed(t, c, all[name])}
	}
	all[""] = s.Config()
	inherits := map[string]string{"one": "a", "two": "a"}
	for of, kinds := range made {
		for kind, config := range kinds {
			for at, target := range all {
				code, body := read(ctx, t, config, target.Host, strings.TrimPrefix(target.Host, s.URL())+"/api/v1/namespaces/default/configmaps")
				want := http.StatusUnauthorized
				if of == at || of != "" && inherits[at] == of {
					want = http.StatusOK
				}
				if code != want {
					t.Errorf("%s of %q at %q: %d, want %d: %.200s", kind, of, at, code, want, body)
				}
			}
		}
	}
}

// No spelling of a path leads out of a control plane.
func TestPaths(t *testing.T) {
	s := serve(t, controlplane.Options{})
	a := s.create(t, "a", clusters.Spec{})
	b := s.create(t, "b", clusters.Spec{})
	addMap(t, b, "secret-of-b")
	addMap(t, s.Config(), "secret-of-the-server")
	const rest = "/api/v1/namespaces/default/configmaps"
	for _, path := range []string{
		"/clusters/a/../b" + rest, "/clusters/a/..%2fb" + rest, "/clusters/a/%2e%2e/b" + rest, "/clusters/a/../.." + rest,
		"/clusters/a/..%2f.." + rest, "/clusters/%62" + rest, "/clusters/a//clusters/b" + rest, "/clusters/a/clusters/b" + rest,
		"//clusters/b" + rest, "/clusters//b" + rest, "/clusters/./b" + rest, "/clusters/a%2f..%2fb" + rest, "/clusters/b%00" + rest,
		"/clusters/B" + rest, "/clusters/" + rest, "/clusters" + rest, "/clusters/b;a" + rest, "/clusters/a" + "/../../.." + rest,
		"/clusters/a/api/v1/namespaces/default/services/x/proxy/../../../../../../../b" + rest,
		"/%63lusters/b" + rest, "/clusters/b\\..\\a" + rest,
	} {
		code, body := read(t.Context(), t, a, s.URL(), path)
		if code == http.StatusOK || strings.Contains(body, "secret-of") {
			t.Errorf("%s: %d %.300s", path, code, body)
		}
	}
	// Requests to several control planes share connections, and each is answered by its own.
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			at, want := "a", http.StatusOK
			if i%2 == 1 {
				at, want = "b", http.StatusUnauthorized
			}
			if code, body := read(t.Context(), t, a, s.URL(), fmt.Sprintf("/clusters/%s%s", at, rest)); code != want {
				t.Errorf("%s: %d %.200s", at, code, body)
			}
		})
	}
	group.Wait()
}
