package kubeapiserver_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// policy returns a line of a policy file.
func policy(spec string) string {
	return `{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {` + spec + `}}`
}

// policies are those of the tests: of users by the versioned form, and of the user old by the older one.
var policies = strings.Join([]string{
	"# comment", "   ", policy(`"user": "ada", "namespace": "*", "resource": "*", "apiGroup": "*", "readonly": true`),
	policy(`"user": "ada", "namespace": "shop", "resource": "configmaps"`),
	policy(`"user": "ada", "group": "devs", "nonResourcePath": "/metrics"`),
	policy(`"user": "ada", "group": "admins", "namespace": "*", "resource": "*", "apiGroup": "*"`),
	policy(`"group": "*", "nonResourcePath": "/version*"`),
	policy(`"namespace": "*", "resource": "*", "apiGroup": "*", "nonResourcePath": "*"`),
	policy(`"user": "ada", "namespace": "*", "resource": "selfsubjectrulesreviews", "apiGroup": "authorization.k8s.io"`),
	`{"user": "old", "resource": "secrets"}`,
	`{"apiVersion": "abac.authorization.kubernetes.io/v0", "kind": "Policy", "user": "free"}`,
}, "\n") + "\n"

// TestPolicyFile: the authorizer ABAC allows what the policies of a file allow.
func TestPolicyFile(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, dir, "policies.jsonl", policies)
	config := filepath.Join(dir, "authorization.yaml")
	replace(t, config, authorizationConfig(t, map[string]any{"type": "ABAC", "name": "abac"}, rbacAuthorizer))
	for name, flag := range map[string]string{"mode": "--authorization-mode=ABAC", "config": "--authorization-config=" + config} {
		t.Run(name, func(t *testing.T) { testPolicies(t, start(t, flag, "--authorization-policy-file="+file)) })
	}
}

func testPolicies(t *testing.T, as func(token string) *kubernetes.Clientset) {
	root, ada := as("root-token"), as("ada-token")
	makeNamespace(t, root, "shop", nil)
	if _, err := ada.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := makeConfigMap(t, ada, "a", "b"); !apierrors.IsForbidden(err) {
		t.Errorf("a write in the namespace default: %v", err)
	}
	for _, c := range []struct {
		user    string
		groups  []string
		request string // the verb, and a path or a resource of a group in a namespace
		allowed bool
	}{
		{"ada", nil, "create configmaps shop", true},
		{"ada", nil, "create configmaps default", false},
		{"ada", nil, "create deployments.apps shop", false},
		{"ada", nil, "watch deployments.apps shop", true},
		{"ada", nil, "watch nodes", true},
		{"ada", nil, "get /metrics", false}, // the policy has a group
		{"ada", []string{"devs"}, "post /metrics", true},
		{"ann", []string{"devs"}, "get /metrics", false},
		{"ada", []string{"admins"}, "delete nodes", true},
		{"ann", nil, "get /version", false}, // not even authenticated
		{"ann", []string{"system:authenticated"}, "get /version/next", true},
		{"ann", []string{"system:authenticated"}, "get pods default", false},
		{"old", nil, "delete secrets default", true},
		{"old", nil, "delete secrets.example.com", true},
		{"old", nil, "get pods default", false},
		{"old", nil, "get /metrics", false},
		{"free", nil, "delete nodes", true},
		{"free", nil, "post /metrics", true},
		{"ann", []string{"system:masters"}, "delete nodes", true},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: c.user, Groups: c.groups}}
		words := append(strings.Fields(c.request), "")
		if strings.HasPrefix(words[1], "/") {
			review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: words[0], Path: words[1]}
		} else {
			resource, group, _ := strings.Cut(words[1], ".")
			review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Verb: words[0], Resource: resource, Group: group, Namespace: words[2]}
		}
		got, err := root.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil || got.Status.Allowed != c.allowed {
			t.Errorf("%s %q %s: %+v %v, want %t", c.user, c.groups, c.request, got.Status, err, c.allowed)
		}
	}
	rules, err := ada.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "shop"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []authorizationv1.ResourceRule{
		{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
		{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
	}
	if got := rules.Status.ResourceRules; rules.Status.Incomplete || len(got) < 2 || !reflect.DeepEqual(got[:2], want) {
		t.Errorf("the rules of ada: %+v", rules.Status)
	}
}

// TestPolicyFileFails: the server does not start with a policy file that is broken, missing or not asked for.
func TestPolicyFileFails(t *testing.T) {
	dir := t.TempDir()
	good := writeFile(t, dir, "good", policies)
	for i, c := range []struct{ text, want string }{
		{policy("") + "\n{", ", line 2: {: "},
		{policy(`"user": 1`), "line 1: " + policy(`"user": 1`) + ": json: cannot unmarshal number into Go struct field"},
		{"\n" + `{"apiVersion": "abac.authorization.kubernetes.io/v9", "kind": "Policy"}`, `no kind "Policy" is registered for version "abac.authorization.kubernetes.io/v9"`},
		{strings.Repeat(" ", 70_000), ": bufio.Scanner: token too long"},
	} {
		file := writeFile(t, dir, fmt.Sprint("bad-", i), c.text)
		if err := startFails(t, "--authorization-mode=ABAC", "--authorization-policy-file="+file); !strings.Contains(err, "error reading policy file "+file) || !strings.Contains(err, c.want) {
			t.Errorf("%s: %s", c.want, err)
		}
	}
	for want, args := range map[string][]string{
		"open /no/such/file": {"--authorization-mode=ABAC", "--authorization-policy-file=/no/such/file"},
		"want both":          {"--authorization-mode=ABAC"},
		"want both or":       {"--authorization-mode=RBAC", "--authorization-policy-file=" + good},
	} {
		if err := startFails(t, args...); !strings.Contains(err, want) {
			t.Errorf("%q: %s, want %q", args, err, want)
		}
	}
}
