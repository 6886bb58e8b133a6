package kubeapiserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/etcdstandin"
	"fairlead.dev/internal/kubeapiserver"
)

// patience bounds the wait for a server; it is no measure of speed.
const patience = 90 * time.Second

// standardError is that of the servers that start from now on.
var standardError io.Writer = os.Stderr

// start runs the command line until the test ends, and returns a client for each token.
func start(t *testing.T, args ...string) func(token string) *kubernetes.Clientset {
	t.Helper()
	return startOn(t, t.TempDir(), args...)
}

// startOn is start with the store in dir.
func startOn(t *testing.T, dir string, args ...string) func(token string) *kubernetes.Clientset {
	t.Helper()
	etcd := httptest.NewServer(etcdstandin.Handler(etcdstandin.Store{DataDir: dir, NoFsync: true}))
	t.Cleanup(etcd.Close)
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("root-token,root,1,system:masters\nada-token,ada,2,devs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := kubeapiserver.Command()
	cmd.SetErr(standardError)
	cmd.SetArgs(append([]string{"--etcd-servers=" + etcd.URL, "--bind-address=127.0.0.1", "--secure-port=" + port, "--token-auth-file=" + tokens}, args...))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	as := func(token string) *kubernetes.Clientset {
		return kubernetes.NewForConfigOrDie(&rest.Config{
			Host: "https://127.0.0.1:" + port, BearerToken: token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		})
	}
	root := as("root-token").Discovery().RESTClient()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := root.Get().AbsPath("/readyz").DoRaw(t.Context()); err == nil {
			return as
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			ended <- nil
			t.Fatal("the server ended: ", err)
		default:
		}
	}
}

// startFails returns the error of a command line.
func startFails(t *testing.T, args ...string) string {
	t.Helper()
	etcd := httptest.NewServer(etcdstandin.Handler(etcdstandin.Store{DataDir: t.TempDir(), NoFsync: true}))
	t.Cleanup(etcd.Close)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	cmd := kubeapiserver.Command()
	cmd.SetArgs(append([]string{"--etcd-servers=" + etcd.URL, "--bind-address=127.0.0.1", "--secure-port=" + freePort(t)}, args...))
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		t.Fatalf("%q starts", args)
	}
	return err.Error()
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func list(t *testing.T, c *kubernetes.Clientset) error {
	t.Helper()
	_, err := c.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	return err
}

// TestAuthorizationModes asks as a user without a role, and without credentials.
func TestAuthorizationModes(t *testing.T) {
	for _, c := range []struct {
		mode      string
		ada, none func(error) bool
	}{
		{"AlwaysAllow", isNil, apierrors.IsUnauthorized},
		{"AlwaysDeny", apierrors.IsForbidden, apierrors.IsForbidden},
		{"RBAC", apierrors.IsForbidden, apierrors.IsForbidden},
		{"Node,RBAC", apierrors.IsForbidden, apierrors.IsForbidden},
	} {
		t.Run(c.mode, func(t *testing.T) {
			as := start(t, "--authorization-mode="+c.mode)
			if err := list(t, as("ada-token")); !c.ada(err) {
				t.Errorf("a user: %v", err)
			}
			if err := list(t, as("")); !c.none(err) {
				t.Errorf("without credentials: %v", err)
			}
			if err := list(t, as("another-token")); !apierrors.IsUnauthorized(err) {
				t.Errorf("with a wrong token: %v", err)
			}
			if err := list(t, as("root-token")); err != nil {
				t.Errorf("system:masters: %v", err)
			}
		})
	}
}

func isNil(err error) bool { return err == nil }

// TestAuthorizationWebhook lets a webhook decide.
func TestAuthorizationWebhook(t *testing.T) {
	webhook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review authorizationv1.SubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		attributes := review.Spec.ResourceAttributes
		review.Status.Allowed = review.Spec.User == "ada" && attributes != nil && attributes.Verb == "list"
		review.Status.Reason = "only ada lists"
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(webhook.Close)
	config := filepath.Join(t.TempDir(), "webhook.kubeconfig")
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: %q}}]}", webhook.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	as := start(t, "--authorization-mode=Webhook", "--authorization-webhook-version=v1", "--authorization-webhook-config-file="+config)
	if err := list(t, as("ada-token")); err != nil {
		t.Error(err)
	}
	_, err := as("ada-token").CoreV1().ConfigMaps("default").Get(t.Context(), "x", metav1.GetOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "only ada lists") {
		t.Errorf("what the webhook refuses: %v", err)
	}
}

// TestAnonymous refuses requests without credentials.
func TestAnonymous(t *testing.T) {
	as := start(t, "--authorization-mode=RBAC", "--anonymous-auth=false")
	if _, err := as("").Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(t.Context()); !apierrors.IsUnauthorized(err) {
		t.Errorf("without credentials: %v", err)
	}
}

// TestPrivileged has kube-apiserver's default, which refuses privileged containers.
func TestPrivileged(t *testing.T) {
	privileged := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "c", Image: "i", SecurityContext: &corev1.SecurityContext{Privileged: &privileged},
	}}}}
	_, err := start(t, "--disable-admission-plugins=ServiceAccount")("root-token").CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy") {
		t.Errorf("without --allow-privileged: %v", err)
	}
	if _, err := start(t, "--disable-admission-plugins=ServiceAccount", "--allow-privileged")("root-token").CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Errorf("with --allow-privileged: %v", err)
	}
}

// TestRuntimeConfig does not serve a version that is disabled, and serves one that is named without a value.
func TestRuntimeConfig(t *testing.T) {
	root := start(t, "--runtime-config=", "--runtime-config=policy/v1=false,", "--runtime-config=storagemigration.k8s.io/v1beta1")("root-token")
	if _, err := root.StoragemigrationV1beta1().StorageVersionMigrations().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a version without a value: %v", err)
	}
	if _, err := root.PolicyV1().PodDisruptionBudgets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a disabled version: %v", err)
	}
	groups, err := root.Discovery().ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		if g.Name == "policy" {
			t.Errorf("discovery has %v", g)
		}
	}
}

// TestWarnings names the flags that have no effect.
func TestWarnings(t *testing.T) {
	cmd := kubeapiserver.Command()
	logged := recordLog(t)
	cmd.SetErr(standardError)
	cmd.SetArgs([]string{"--apiserver-count=3"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "--etcd-servers must be specified") {
		t.Errorf("without an etcd: %v", err)
	}
	if want := "--apiserver-count has no effect: the server is the only one of its cluster"; !strings.Contains(logged(), want) {
		t.Errorf("no warning %q in %q", want, logged())
	}
}
