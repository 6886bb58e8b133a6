package kubeapiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// accessWebhook answers SubjectAccessReviews with a status for each user, and no opinion about others.
type accessWebhook struct {
	*httptest.Server
	kubeconfig string
	answers    map[string]authorizationv1.SubjectAccessReviewStatus

	mu    sync.Mutex
	asked []string // users
	last  *authorizationv1.ResourceAttributes
}

func newAccessWebhook(t *testing.T, answers map[string]authorizationv1.SubjectAccessReviewStatus) *accessWebhook {
	t.Helper()
	w := &accessWebhook{answers: answers}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	w.kubeconfig = filepath.Join(t.TempDir(), "webhook.kubeconfig")
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: %q}}]}", w.URL)
	if err := os.WriteFile(w.kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *accessWebhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var review authorizationv1.SubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	w.asked = append(w.asked, review.Spec.User)
	w.last = review.Spec.ResourceAttributes
	w.mu.Unlock()
	review.Status = w.answers[review.Spec.User]
	rw.Header().Set("Content-Type", "application/json")
	json.NewEncoder(rw).Encode(review)
}

func (w *accessWebhook) wasAsked(user string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.asked, user)
}

// authorizer returns the webhook's part of an AuthorizationConfiguration.
func (w *accessWebhook) authorizer(name, failurePolicy string, conditions ...string) map[string]any {
	hook := map[string]any{
		"authorizedTTL": "30s", "unauthorizedTTL": "30s", "timeout": "3s", "subjectAccessReviewVersion": "v1", "failurePolicy": failurePolicy,
		"connectionInfo": map[string]any{"type": "KubeConfigFile", "kubeConfigFile": w.kubeconfig},
	}
	if len(conditions) > 0 {
		var list []any
		for _, c := range conditions {
			list = append(list, map[string]any{"expression": c})
		}
		hook["matchConditions"], hook["matchConditionSubjectAccessReviewVersion"] = list, "v1"
	}
	return map[string]any{"type": "Webhook", "name": name, "webhook": hook}
}

func authorizationConfig(t *testing.T, authorizers ...map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration", "authorizers": authorizers})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var rbacAuthorizer = map[string]any{"type": "RBAC", "name": "rbac"}

// asUser returns a client that impersonates the user.
func asUser(t *testing.T, root *kubernetes.Clientset, user string) func() error {
	return func() error {
		return root.CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/default/configmaps").SetHeader("Impersonate-User", user).Do(t.Context()).Error()
	}
}

// TestAuthorizationConfig: authorizers are asked in the order of the file, until one allows or denies.
func TestAuthorizationConfig(t *testing.T) {
	first := newAccessWebhook(t, map[string]authorizationv1.SubjectAccessReviewStatus{
		"allowed": {Allowed: true}, "denied": {Denied: true, Reason: "denied by the first"}, "nobody": {Reason: "not known"},
	})
	second := newAccessWebhook(t, map[string]authorizationv1.SubjectAccessReviewStatus{
		"allowed": {}, "denied": {Allowed: true}, "left": {Allowed: true}, "nobody": {Reason: "a stranger"},
	})
	down := newAccessWebhook(t, nil)
	down.Close()
	config := filepath.Join(t.TempDir(), "authorization.yaml")
	replace(t, config, authorizationConfig(t,
		first.authorizer("first", "NoOpinion", "has(request.resourceAttributes)", "request.user != 'unmatched'"),
		second.authorizer("second", "NoOpinion"),
		down.authorizer("down", "Deny", "request.user == 'unlucky'"),
		rbacAuthorizer))
	as := start(t, "--authorization-config="+config)
	root := as("root-token")
	for _, c := range []struct {
		user   string
		is     func(error) bool
		reason string
		asked  bool // the second
	}{
		{"allowed", isNil, "", false},
		{"denied", apierrors.IsForbidden, "denied by the first", false},
		{"left", isNil, "", true},
		{"nobody", apierrors.IsForbidden, ": first: not known\nsecond: a stranger", true},
		{"unmatched", apierrors.IsForbidden, "", true},
		{"unlucky", apierrors.IsInternalError, "", true},
	} {
		err := asUser(t, root, c.user)()
		if !c.is(err) || err != nil && !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", c.user, err)
		}
		if second.wasAsked(c.user) != c.asked {
			t.Errorf("%s: the second webhook was asked: %t", c.user, !c.asked)
		}
	}
	if first.wasAsked("unmatched") || first.wasAsked("root") {
		t.Error("the first webhook was asked about a request that it does not match, or about system:masters")
	}
	for user, want := range map[string]authorizationv1.SubjectAccessReviewStatus{
		"allowed": {Allowed: true}, "denied": {Denied: true, Reason: "denied by the first"}, "nobody": {Reason: "first: not known\nsecond: a stranger"},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Version: "v1", Resource: "configmaps", Namespace: "default"},
		}}
		got, err := root.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil || got.Status != want {
			t.Errorf("the review of %s: %+v %v, want %+v", user, got.Status, err, want)
		}
	}
	if err := root.CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/default/configmaps").Param("labelSelector", "a in (b,c)").Param("fieldSelector", "metadata.name=x").
		SetHeader("Impersonate-User", "selecting").Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
		t.Errorf("a list with selectors: %v", err)
	}
	second.mu.Lock()
	got := second.last
	second.mu.Unlock()
	wantLabels := []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"b", "c"}}}
	wantFields := []metav1.FieldSelectorRequirement{{Key: "metadata.name", Operator: metav1.FieldSelectorOpIn, Values: []string{"x"}}}
	if !reflect.DeepEqual(got.LabelSelector, &authorizationv1.LabelSelectorAttributes{Requirements: wantLabels}) ||
		!reflect.DeepEqual(got.FieldSelector, &authorizationv1.FieldSelectorAttributes{Requirements: wantFields}) {
		t.Errorf("the webhook got the selectors %+v and %+v", got.LabelSelector, got.FieldSelector)
	}
	rules, err := root.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	const unknown = "webhook authorizer does not support user rule resolution"
	if err != nil || !rules.Status.Incomplete || rules.Status.EvaluationError != unknown || len(rules.Status.ResourceRules) == 0 {
		t.Errorf("rules of system:masters: %v %+v", err, rules.Status)
	}
	rest := root.Discovery().RESTClient()
	for _, name := range []string{
		`apiserver_authorization_decisions_total{decision="allowed",name="first",type="Webhook"}`,
		`apiserver_authorization_decisions_total{decision="denied",name="first",type="Webhook"}`,
		`apiserver_authorization_decisions_total{decision="denied",name="down",type="Webhook"}`,
		`apiserver_authorization_match_condition_exclusions_total{name="first",type="Webhook"}`,
	} {
		if sample(t, rest, name) == 0 {
			t.Errorf("/metrics has no %s", name)
		}
	}
}

// TestAuthorizationConfigReload: the file of a running server can be replaced; one that cannot be used leaves the former one
// in force.
func TestAuthorizationConfigReload(t *testing.T) {
	hook := newAccessWebhook(t, map[string]authorizationv1.SubjectAccessReviewStatus{"ann": {Allowed: true}})
	config := filepath.Join(t.TempDir(), "authorization.yaml")
	replace(t, config, authorizationConfig(t, rbacAuthorizer))
	as := start(t, "--authorization-config="+config)
	root := as("root-token")
	ann := asUser(t, root, "ann")
	if err := ann(); !apierrors.IsForbidden(err) {
		t.Fatalf("without the webhook: %v", err)
	}
	replace(t, config, authorizationConfig(t, rbacAuthorizer, hook.authorizer("hook", "NoOpinion")))
	eventually(t, "the webhook is asked", func() bool { return ann() == nil })
	failures := func() float64 {
		return sample(t, root.Discovery().RESTClient(), `fairlead_config_reloads_total{config="authorization",result="failure"}`)
	}
	for title, text := range map[string][]byte{
		"a broken file":           []byte("{"),
		"a file without RBAC":     authorizationConfig(t, map[string]any{"type": "AlwaysDeny", "name": "alwaysdeny"}),
		"a file with Node":        authorizationConfig(t, rbacAuthorizer, map[string]any{"type": "Node", "name": "node"}),
		"a file with ABAC":        authorizationConfig(t, rbacAuthorizer, map[string]any{"type": "ABAC", "name": "abac"}),
		"an empty list":           authorizationConfig(t),
		"an authorizer by chance": authorizationConfig(t, map[string]any{"type": "Chance", "name": "chance"}, rbacAuthorizer),
	} {
		before := failures()
		replace(t, config, text)
		eventually(t, title+" is counted", func() bool { return failures() > before })
		if err := ann(); err != nil {
			t.Errorf("%s replaced the former one: %v", title, err)
		}
	}
	replace(t, config, authorizationConfig(t, rbacAuthorizer))
	eventually(t, "the webhook is no longer asked", func() bool { return apierrors.IsForbidden(ann()) })
}

// TestAuthorizationConfigErrors: a server with a file that cannot be used does not start.
func TestAuthorizationConfigErrors(t *testing.T) {
	hook := newAccessWebhook(t, nil)
	write := func(authorizers ...map[string]any) string {
		path := filepath.Join(t.TempDir(), "authorization.yaml")
		replace(t, path, authorizationConfig(t, authorizers...))
		return "--authorization-config=" + path
	}
	inCluster, open := hook.authorizer("a", "NoOpinion"), hook.authorizer("a", "Open")
	inCluster["webhook"].(map[string]any)["connectionInfo"] = map[string]any{"type": "InClusterConfig"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--authorization-config=" + filepath.Join(t.TempDir(), "absent")}, "--authorization-config: open"},
		{[]string{write(rbacAuthorizer), "--authorization-mode=RBAC"}, "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"},
		{[]string{write(rbacAuthorizer), "--authorization-webhook-version=v1"}, "--authorization-config can not be specified"},
		{[]string{write()}, "authorizers: Required value: at least one authorization mode must be defined"},
		{[]string{write(rbacAuthorizer, rbacAuthorizer)}, "authorizers[1].type: Duplicate value: \"RBAC\""},
		{[]string{write(map[string]any{"type": "RBAC", "name": "roles"})}, "expected name rbac for authorizer RBAC instead of roles"},
		{[]string{write(map[string]any{"type": "ABAC", "name": "abac"})}, "authorization.yaml: open : no such file or directory"},
		{[]string{write(open)}, "failurePolicy: Unsupported value: \"Open\": supported values: \"NoOpinion\", \"Deny\""},
		{[]string{write(hook.authorizer("a", "Deny", "request."))}, "matchConditions[0].expression: Invalid value"},
		{[]string{write(inCluster)}, "connectionInfo.type: want KubeConfigFile"},
	} {
		if err := startFails(t, c.args...); !strings.Contains(err, c.want) {
			t.Errorf("%q: %s, want %q", c.args, err, c.want)
		}
	}
}
