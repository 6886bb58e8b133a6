package component_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/server/debugging"
	"fairlead.dev/scheduler"
)

// TestSchedulerApart: a scheduler in a process of its own serves its health to everyone, and its metrics to users of the API
// server with the right to get them, by token or client certificate.
func TestSchedulerApart(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- controlplane.RunScheduler(ctx, cp.Config(), scheduler.Options{}, controlplane.Apart{Endpoints: &controlplane.Endpoints{
			Listener: listener, Serving: controlplane.Serving{MinVersion: tls.VersionTLS13}, NoHTTP2: true,
			Debug: debugging.Handler(func(uint32) error { return nil }),
		}})
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	users := controlplanetest.Clientset(t, cp)
	for _, name := range []string{"prometheus", "stranger"} {
		if _, err := users.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := users.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "prometheus"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:monitoring"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "prometheus"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token := func(name string) string {
		r, err := users.CoreV1().ServiceAccounts("default").CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Status.Token
	}

	base := "https://" + listener.Addr().String()
	anyone := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, c := range []struct {
		path, token string
		code        int
		text        string
	}{
		{"/healthz", "", http.StatusOK, "ok"},
		{"/readyz?verbose", "", http.StatusOK, "[+]ping ok\nreadyz check passed\n"},
		{"/metrics", "", http.StatusForbidden, `User "system:anonymous" cannot get path "/metrics"`},
		{"/metrics", "wrong", http.StatusUnauthorized, "Unauthorized"},
		{"/metrics", token("stranger"), http.StatusForbidden, `User "system:serviceaccount:default:stranger" cannot get path "/metrics"`},
		{"/metrics", token("prometheus"), http.StatusOK, "\nscheduler_pending_pods{"},
		{"/metrics", token("prometheus"), http.StatusOK, "\nrest_client_requests_total{"},
		{"/metrics", token("prometheus"), http.StatusOK, "\nkubernetes_build_info{"},
		{"/metrics/slis", token("prometheus"), http.StatusOK, "\nkubernetes_healthchecks_total{name=\"ping\",status=\"success\",type=\"healthz\"} 1\n"},
		{"/configz", token("stranger"), http.StatusForbidden, `cannot get path "/configz"`},
		{"/version", token("stranger"), http.StatusOK, `"gitVersion"`},
		{"/debug/pprof/", token("prometheus"), http.StatusForbidden, `cannot get path "/debug/pprof/"`},
	} {
		code, text := get(t, anyone, base+c.path, c.token)
		if code != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %s, want %d and %q", c.path, code, text, c.code, c.text)
		}
	}

	config := rest.CopyConfig(cp.Config()) // whose client certificate is that of an administrator
	config.TLSClientConfig.Insecure, config.TLSClientConfig.CAData, config.TLSClientConfig.CAFile = true, nil, ""
	admin, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	// The scheduler learns the client CA by a watch; until then the user is anonymous.
	for code := 0; code != http.StatusOK; {
		if code, _ = get(t, admin, base+"/metrics", ""); ctx.Err() != nil {
			t.Fatal("a client certificate is not accepted: ", code)
		}
	}
	if code, text := get(t, admin, base+"/debug/pprof/goroutine?debug=1", ""); code != http.StatusOK || !strings.Contains(text, "goroutine profile: total ") {
		t.Errorf("a profile for an administrator: %d %s", code, text)
	}

	conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if chosen := conn.ConnectionState().NegotiatedProtocol; chosen != "http/1.1" {
		t.Errorf("without HTTP/2 the protocol is %q", chosen)
	}
	if old, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}); err == nil {
		old.Close()
		t.Error("TLS 1.2 is accepted below the minimum of 1.3")
	}
	_, text := get(t, admin, base+"/configz", "")
	var served map[string]configv1.KubeSchedulerConfiguration
	if err := json.Unmarshal([]byte(text), &served); err != nil {
		t.Fatal(err)
	}
	of := served["componentconfig"]
	if of.Kind != "KubeSchedulerConfiguration" || *of.Parallelism != 16 || *of.LeaderElection.LeaderElect || len(of.Profiles) != 1 ||
		len(of.Profiles[0].Plugins.MultiPoint.Enabled) != 20 || len(of.Profiles[0].PluginConfig) != 8 {
		t.Errorf("/configz: %s", text)
	}
}

func get(t *testing.T, c *http.Client, url, token string) (code int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}
