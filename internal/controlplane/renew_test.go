package controlplane_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/controlplane/pki"
)

// renewed is a control plane whose certificates change.
type renewed struct {
	*testing.T
	cp  *controlplane.ControlPlane
	url string
}

// whoami returns the user of a new connection by the config, "" if the server does not know it.
func (r renewed) whoami(config *rest.Config) (string, error) {
	r.Helper()
	config = rest.CopyConfig(config)
	config.Dial = new(net.Dialer).DialContext // no connection that client-go has for this config
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		r.Fatal(err)
	}
	defer transport.CloseIdleConnections()
	c, err := kubernetes.NewForConfigAndClient(config, transport)
	if err != nil {
		r.Fatal(err)
	}
	review, err := c.AuthenticationV1().SelfSubjectReviews().Create(r.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return review.Status.UserInfo.Username, nil
}

// serves returns the chain that the server shows to a new connection.
func (r renewed) serves() []*x509.Certificate {
	r.Helper()
	c, err := tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		r.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates
}

// written returns the access of the kubeconfig on disk.
func (r renewed) written() *rest.Config {
	r.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", r.cp.KubeconfigPath())
	if err != nil {
		r.Fatal(err)
	}
	return config
}

// accepted fails unless the config is the administrator's.
func (r renewed) accepted(what string, config *rest.Config) {
	r.Helper()
	if user, err := r.whoami(config); user != "kubernetes-admin" {
		r.Errorf("%s: the user is %q, %v", what, user, err)
	}
}

// keys returns the number of keys that others verify tokens with.
func (r renewed) keys() int {
	r.Helper()
	transport, err := rest.HTTPClientFor(r.cp.Config())
	if err != nil {
		r.Fatal(err)
	}
	res, err := transport.Get(r.url + "/openid/v1/jwks")
	if err != nil {
		r.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		r.Fatal(res.Status, err)
	}
	return bytes.Count(body, []byte(`"kid"`))
}

// TestRotateWhileServing: a rotation of the CAs and the token key closes no connection. Between its steps clients with old
// certificates, CAs and tokens go on, as do those with new ones.
func TestRotateWhileServing(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{DataDir: t.TempDir(), Controllers: []string{"rootca", "serviceaccounttoken", "certificates"}})
	r := renewed{t, cp, cp.URL()}
	ctx, before := t.Context(), cp.Config()
	admin := controlplanetest.Clientset(t, cp)
	maps := client.For[*corev1.ConfigMap](controlplanetest.Client(t, cp)).Namespace("default")
	w, err := admin.CoreV1().Secrets("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	seen := func(name string) { // by the watch from before
		t.Helper()
		if _, err := admin.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if e, open := <-w.ResultChan(); !open || e.Type != watch.Added || e.Object.(*corev1.Secret).Name != name {
			t.Fatalf("the watch from before the rotation got %v, open: %v", e, open)
		}
	}
	published := func(want []byte) {
		t.Helper()
		waittest.One(t, maps, "kube-root-ca.crt", "the CAs", func(m *corev1.ConfigMap) bool { return m.Data["ca.crt"] == string(want) })
	}
	tokenFor := func() *rest.Config {
		t.Helper()
		request, err := admin.CoreV1().ServiceAccounts("default").CreateToken(ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		config := rest.AnonymousClientConfig(cp.Config())
		config.BearerToken = request.Status.Token
		return config
	}
	if _, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	published(before.CAData)
	oldToken := tokenFor()

	if err := cp.Renew(ctx, pki.Renewal{Rotation: pki.Rotation{CA: true, TokenKey: true}}); err != nil {
		t.Fatal(err)
	}
	seen("between")
	between := r.written()
	both := between.CAData
	if !bytes.Contains(both, before.CAData) || bytes.Equal(both, before.CAData) {
		t.Error("the kubeconfig does not trust both CAs")
	}
	r.accepted("the old kubeconfig", before)
	r.accepted("the new kubeconfig", between)
	mixed := rest.CopyConfig(between)
	mixed.CAData = before.CAData
	r.accepted("a new certificate and the old CA", mixed)
	published(both)
	trust := func() string {
		t.Helper()
		m, err := admin.CoreV1().ConfigMaps("kube-system").Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return m.Data["client-ca-file"]
	}
	if n := strings.Count(trust(), "BEGIN"); n != 2 {
		t.Errorf("%d CAs are published for other servers", n)
	}
	newToken := tokenFor()
	for _, config := range []*rest.Config{oldToken, newToken} {
		if user, err := r.whoami(config); user != "system:serviceaccount:default:default" {
			t.Errorf("a token: %q, %v", user, err)
		}
	}
	if n := r.keys(); n != 2 {
		t.Errorf("%d keys verify tokens", n)
	}
	if err := cp.Renew(ctx, pki.Renewal{Rotation: pki.Rotation{CA: true}}); !errors.Is(err, pki.ErrUnfinished) {
		t.Errorf("a second rotation: %v", err)
	}

	if err := cp.Renew(ctx, pki.Renewal{Rotation: pki.Rotation{Finish: true}}); err != nil {
		t.Fatal(err)
	}
	after := r.written()
	admin = controlplanetest.Clientset(t, cp)
	if bytes.Contains(after.CAData, before.CAData) || !bytes.Contains(both, after.CAData) {
		t.Error("the kubeconfig does not trust the new CA alone")
	}
	r.accepted("the kubeconfig between the steps", between)
	r.accepted("the kubeconfig after them", after)
	if user, err := r.whoami(&rest.Config{Host: before.Host, TLSClientConfig: rest.TLSClientConfig{CAData: after.CAData, CertData: before.CertData, KeyData: before.KeyData}}); err == nil {
		t.Errorf("the old certificate is good for %q after the rotation", user)
	}
	if user, err := r.whoami(before); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("a client that trusts the old CA alone: %q, %v", user, err)
	}
	oldToken.CAData, newToken.CAData = after.CAData, after.CAData
	if user, err := r.whoami(newToken); user != "system:serviceaccount:default:default" {
		t.Errorf("the new token after the rotation: %q, %v", user, err)
	}
	if user, err := r.whoami(oldToken); !apierrors.IsUnauthorized(err) {
		t.Errorf("the old token after the rotation: %q, %v", user, err)
	}
	if n := r.keys(); n != 1 {
		t.Errorf("%d keys verify tokens after the rotation", n)
	}
	if strings.Contains(trust(), string(before.CAData)) {
		t.Error("the old CA is still published for other servers")
	}
	maps = client.For[*corev1.ConfigMap](controlplanetest.Client(t, cp)).Namespace("default")
	published(after.CAData)
	seen("after")
}

// TestRenewLeaves: renewed certificates are shown and written at once; the keys stay, and so do connections. Files of the
// user's are refused.
func TestRenewLeaves(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{DataDir: t.TempDir()})
	r := renewed{t, cp, cp.URL()}
	before, first := r.written(), r.serves()
	if err := cp.Renew(t.Context(), pki.Renewal{Names: []string{pki.ServingLeaf}}); err != nil {
		t.Fatal(err)
	}
	second := r.serves()
	if second[0].Equal(first[0]) || !bytes.Equal(r.written().CertData, before.CertData) {
		t.Error("the serving certificate is the same, or that of the kubeconfig is not")
	}
	if err := cp.Renew(t.Context(), pki.Renewal{All: true}); err != nil {
		t.Fatal(err)
	}
	after := r.written()
	if r.serves()[0].Equal(second[0]) || bytes.Equal(after.CertData, before.CertData) || !bytes.Equal(after.CAData, before.CAData) {
		t.Error("not all certificates were renewed, or the CA was")
	}
	r.accepted("the former kubeconfig", before)
	r.accepted("the kubeconfig", after)

	dir := t.TempDir()
	authority, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	files := controlplane.CertificateFiles{CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key")}
	pair, err := authority.Serving("127.0.0.1", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{files.CertFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, files.KeyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := controlplanetest.Start(t, controlplane.Options{DataDir: t.TempDir(), Serving: controlplane.Serving{Certificate: files}})
	if err := own.Renew(t.Context(), pki.Renewal{Names: []string{pki.ServingLeaf}}); err == nil || !strings.Contains(err.Error(), files.CertFile) {
		t.Errorf("renewal of a certificate in a file: %v", err)
	}
	if err := own.Renew(t.Context(), pki.Renewal{All: true}); err != nil {
		t.Error(err)
	}
	items, err := own.Certificates()
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(items, func(i pki.Item) bool { return i.Name == pki.ServingLeaf }); i < 0 || items[i].State != pki.External || items[i].File != files.CertFile {
		t.Errorf("listed: %+v", items)
	}
}
