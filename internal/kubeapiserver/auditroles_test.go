package kubeapiserver_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/auditroles"
)

// asked are requests of a user, in this order.
var asked = []struct{ method, path, contentType, body string }{
	{"POST", "/api/v1/namespaces/default/configmaps", "application/json", `{"metadata":{"name":"a"}}`},
	{"GET", "/api/v1/namespaces/default/configmaps/a", "", ""},
	{"PATCH", "/api/v1/namespaces/default/configmaps/b?fieldManager=m", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`},
	{"GET", "/api/v1/namespaces/default/secrets", "", ""},
	{"GET", "/api/v1/pods?limit=5", "", ""},
	{"GET", "/api/v1/namespaces/default/pods", "", ""},
	{"GET", "/api/v1/namespaces/default", "", ""},
	{"GET", "/metrics", "", ""},
	{"DELETE", "/api/v1/namespaces/default/configmaps", "", ""},
}

// others are requests that roles for asked must not allow.
var others = []struct{ method, path, contentType, body string }{
	{"GET", "/api/v1/namespaces/default/configmaps/other", "", ""},
	{"GET", "/api/v1/namespaces/default/configmaps", "", ""},
	{"POST", "/api/v1/namespaces/kube-system/configmaps", "application/json", `{"metadata":{"name":"a"}}`},
	{"PATCH", "/api/v1/namespaces/default/configmaps/a?fieldManager=m", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`},
	{"GET", "/api/v1/namespaces/default/secrets/s", "", ""},
	{"GET", "/api/v1/namespaces/kube-system", "", ""},
	{"GET", "/metrics/slis", "", ""},
}

// ask sends a request of ada and returns the status code.
func ask(t *testing.T, c *kubernetes.Clientset, method, path, contentType, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, host(c)+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = bearer("ada-token")
	req.Header.Set("Content-Type", contentType)
	response, err := httpClient(t, nil, "").Do(req)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// TestRolesOfAuditLog makes the roles for the requests of a user where everything is allowed, and sends the requests again where
// only the roles allow them.
func TestRolesOfAuditLog(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("ask", func(t *testing.T) {
		as := start(t, "--audit-policy-file="+policy, "--audit-log-path="+file)
		for _, r := range asked {
			if code := ask(t, as(""), r.method, r.path, r.contentType, r.body); code >= 300 {
				t.Errorf("%s %s: %d", r.method, r.path, code)
			}
		}
	})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var log auditroles.Log
	if err := log.Read(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	objects, err := log.Roles("ada", auditroles.Options{})
	if err != nil {
		t.Fatal(err)
	}

	as := start(t, "--authorization-mode=RBAC")
	for _, r := range asked {
		if code := ask(t, as(""), r.method, r.path, r.contentType, r.body); code != http.StatusForbidden {
			t.Errorf("%s %s without roles: %d", r.method, r.path, code)
		}
	}
	rbac := as("root-token").RbacV1()
	for _, obj := range objects {
		var err error
		switch obj := obj.(type) {
		case *rbacv1.ClusterRole:
			_, err = rbac.ClusterRoles().Create(t.Context(), obj, metav1.CreateOptions{})
		case *rbacv1.ClusterRoleBinding:
			_, err = rbac.ClusterRoleBindings().Create(t.Context(), obj, metav1.CreateOptions{})
		case *rbacv1.Role:
			_, err = rbac.Roles(obj.Namespace).Create(t.Context(), obj, metav1.CreateOptions{})
		case *rbacv1.RoleBinding:
			_, err = rbac.RoleBindings(obj.Namespace).Create(t.Context(), obj, metav1.CreateOptions{})
		default:
			err = fmt.Errorf("a %T", obj)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range asked {
		code := http.StatusForbidden
		for code == http.StatusForbidden && t.Context().Err() == nil { // roles are in effect when the authorizer has seen them
			code = ask(t, as(""), r.method, r.path, r.contentType, r.body)
		}
		if code >= 300 {
			t.Errorf("%s %s with the roles: %d", r.method, r.path, code)
		}
	}
	for _, r := range others {
		if code := ask(t, as(""), r.method, r.path, r.contentType, r.body); code != http.StatusForbidden {
			t.Errorf("%s %s, which was not asked: %d", r.method, r.path, code)
		}
	}
	if _, err := log.Roles("nobody", auditroles.Options{}); !errors.Is(err, auditroles.ErrSubject) {
		t.Errorf("a user without requests: %v", err)
	}
}
