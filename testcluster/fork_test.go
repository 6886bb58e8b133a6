package testcluster_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/testcluster"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

func createMap(t *testing.T, env *testcluster.Env, name string) error {
	t.Helper()
	_, err := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default").Create(context.Background(), configMap(name), metav1.CreateOptions{})
	return err
}

func hasMap(t *testing.T, env *testcluster.Env, name string) bool {
	t.Helper()
	_, err := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	return err == nil
}

// Forks have the objects and users of the base, and neither sees the other's writes; a reset brings them back.
func TestForks(t *testing.T) {
	check := isolate(t)
	o := small()
	o.Faults = []testcluster.Fault{{Action: "fail", Resource: "configmaps", Client: "kubernetes-admin", Code: http.StatusConflict}}
	base, err := testcluster.Prepare(context.Background(), o, func(env *testcluster.Env) error { return createMap(t, env, "fixture") })
	if err != nil {
		t.Fatal(err)
	}
	t.Run("forks", func(t *testing.T) {
		var group sync.WaitGroup
		for range 4 {
			env := base.Fork(t)
			group.Add(1)
			go func() {
				defer group.Done()
				for range 2 {
					if err := createMap(t, env, "own"); !apierrors.IsConflict(err) {
						t.Errorf("the first write, which a fault fails: %v", err)
					}
					if hasMap(t, env, "own") || !hasMap(t, env, "fixture") {
						t.Error("the fork does not begin with the state of the base")
					}
					if err := createMap(t, env, "own"); err != nil {
						t.Error(err)
					}
					if err := env.Reset(context.Background()); err != nil {
						t.Error(err)
					}
				}
				ada := kubernetes.NewForConfigOrDie(env.User("ada", "devs"))
				if _, err := ada.CoreV1().ConfigMaps("default").Get(context.Background(), "fixture", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
					t.Errorf("a user without rights: %v", err)
				}
			}()
		}
		group.Wait()
	})
	late, err := base.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := base.Close(); err != nil {
		t.Error(err)
	}
	if err := late.Reset(context.Background()); err == nil || !strings.HasPrefix(err.Error(), "testcluster: Reset: ") {
		t.Errorf("Reset after the end of the base: %v", err)
	}
	if err := late.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := base.Start(context.Background()); err == nil {
		t.Error("a base that is closed has a new fork")
	}
	check()
}

const validating = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: names}
webhooks:
- name: names.example.com
  clientConfig: {service: {name: names, namespace: default, path: /validate}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  admissionReviewVersions: [v1]
  sideEffects: None
`

// The webhooks of the base are called where each fork has them.
func TestForkWebhooks(t *testing.T) {
	o := small()
	o.Webhooks.Values = []any{[]byte(validating)}
	base, err := testcluster.Prepare(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := base.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"x", "y"} {
		env := base.Fork(t)
		w := env.Webhooks()
		l, err := net.Listen("tcp", net.JoinHostPort(w.Host, strconv.Itoa(w.Port)))
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := tls.LoadX509KeyPair(filepath.Join(w.CertDir, "tls.crt"), filepath.Join(w.CertDir, "tls.key"))
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var review struct{ Request struct{ UID string } }
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":false,"status":{"message":"the webhook of %s"}}}`, review.Request.UID, name)
		}), TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
		go s.ServeTLS(l, "", "")
		t.Cleanup(func() { s.Close() })
		if err := createMap(t, env, "any"); err == nil || !strings.Contains(err.Error(), "the webhook of "+name) {
			t.Errorf("fork %s: %v", name, err)
		}
	}
}

func TestForkBadInput(t *testing.T) {
	check := isolate(t)
	refused := errors.New("the fixtures refuse")
	if _, err := testcluster.Prepare(context.Background(), small(), func(*testcluster.Env) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("an error of the fixtures: %v", err)
	}
	env, err := testcluster.Start(context.Background(), small())
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Reset(context.Background()); err == nil || !strings.Contains(err.Error(), "not a fork") {
		t.Errorf("Reset of an environment of Start: %v", err)
	}
	if err := env.Stop(); err != nil {
		t.Error(err)
	}
	check()
}

func TestRoleForks(t *testing.T) {
	if os.Getenv(role) == "" {
		t.Skip("played for another test")
	}
	base, err := testcluster.Prepare(context.Background(), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	base.Fork(t)
	fmt.Fprintln(os.Stderr, "ready")
	select {}
}

// The process ends with its parent, and its files with it, even if the parent is killed.
func TestParentOfForksIsKilled(t *testing.T) {
	cmd, out := again(t, "TestRoleForks")
	line(t, out, "ready")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out) // ends when the process has ended
	cmd.Wait()               // its error is the kill
}
