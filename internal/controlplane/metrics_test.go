package controlplane_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	reviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/trace"
)

// TestMetrics: after calls of webhooks and policies, /metrics has the names and labels that
// dashboards of kube-apiserver and kube-controller-manager use.
func TestMetrics(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"serviceaccount"}, Trace: trace.New(trace.Options{})})
	c := controlplanetest.Client(t, cp)
	admitAndRefuse(t, c)
	answer, err := c.REST().Do(t.Context(), client.Request{Path: "/metrics", Accept: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.SplitSeq(string(answer.Body), "\n") {
		lines[line] = true
	}
	for _, want := range []string{
		`apiserver_admission_webhook_request_total{code="403",name="refuses.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`apiserver_admission_webhook_request_total{code="503",name="gone.example.com",operation="CREATE",rejected="false",type="validating"} 1`,
		`apiserver_admission_webhook_rejection_count{error_type="no_error",name="refuses.example.com",operation="CREATE",rejection_code="403",type="validating"} 1`,
		`apiserver_admission_webhook_fail_open_count{name="gone.example.com",type="validating"} 1`,
		`apiserver_admission_webhook_admission_duration_seconds_bucket{name="refuses.example.com",operation="CREATE",rejected="true",type="validating",le="25"} 1`,
		`apiserver_admission_controller_admission_duration_seconds_count{name="ValidatingAdmissionWebhook",operation="CREATE",rejected="true",type="validate"} 1`,
		`apiserver_admission_controller_admission_duration_seconds_bucket{name="ValidatingAdmissionPolicy",operation="CREATE",rejected="true",type="validate",le="+Inf"} 1`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="deny",error_type="invalid_error",policy="small",policy_binding="everywhere"} 1`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="audit",error_type="invalid_error",policy="small",policy_binding="everywhere"} 1`,
		`apiserver_validating_admission_policy_check_duration_seconds_count{enforcement_action="deny",error_type="invalid_error",policy="small",policy_binding="everywhere"} 1`,
		`apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="marks",policy_binding="everywhere"} 1`,
		`apiserver_mutating_admission_policy_check_duration_seconds_count{error_type="no_error",policy="marks",policy_binding="everywhere"} 1`,
		`workqueue_depth{name="serviceaccount"} 0`,
		`workqueue_retries_total{name="serviceaccount"} 0`,
	} {
		if !lines[want] {
			name, _, _ := strings.Cut(want, "{")
			t.Errorf("there is no\n  %s\namong\n%s", want, strings.Join(linesOf(lines, name), "\n"))
		}
	}
	for _, want := range []string{
		"process_resident_memory_bytes ",
		"go_goroutines ",
		`apiserver_watch_events_total{group="",resource="serviceaccounts",version="v1"} `,
		`apiserver_watch_events_sizes_bucket{group="",resource="serviceaccounts",version="v1",le="131072"} `,
		`workqueue_adds_total{name="serviceaccount"} `,
	} {
		if found := linesOf(lines, want); len(found) != 1 || strings.HasSuffix(found[0], " 0") {
			t.Errorf("%s is %q", want, found)
		}
	}
}

// admitAndRefuse has objects admitted, changed and refused by webhooks and policies.
func admitAndRefuse(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "the service account", func(*corev1.ServiceAccount) bool { return true })

	refuses := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review reviewv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		review.Response = &reviewv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Code: http.StatusForbidden, Message: "no"}}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(&review)
	}))
	defer refuses.Close()
	gone := httptest.NewTLSServer(nil)
	gone.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: refuses.Certificate().Raw})
	hook := func(name, url string, policy admissionv1.FailurePolicyType) admissionv1.ValidatingWebhook {
		return admissionv1.ValidatingWebhook{
			Name: name, ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To(url), CABundle: ca}, FailurePolicy: &policy,
			Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}},
			SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}
	}
	if _, err := client.For[*admissionv1.ValidatingWebhookConfiguration](c).Create(ctx, &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hooks"},
		Webhooks:   []admissionv1.ValidatingWebhook{hook("refuses.example.com", refuses.URL, admissionv1.Fail), hook("gone.example.com", gone.URL, admissionv1.Ignore)},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*admissionv1.ValidatingAdmissionPolicy](c).Create(ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}}}}}},
			Validations: []admissionv1.Validation{{Expression: "object.metadata.name == 'small'"}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*admissionv1.ValidatingAdmissionPolicyBinding](c).Create(ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "everywhere"},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "small", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny, admissionv1.Audit}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*admissionv1.MutatingAdmissionPolicy](c).Create(ctx, &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "marks"},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}}}}}},
			Mutations: []admissionv1.Mutation{{
				PatchType:          admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: `Object{metadata: Object.metadata{labels: {"marked": "yes"}}}`},
			}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*admissionv1.MutatingAdmissionPolicyBinding](c).Create(ctx, &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "everywhere"}, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "marks"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*corev1.ConfigMap](c).Namespace("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err == nil {
		t.Error("the webhook was not called")
	}
	if _, err := client.For[*corev1.Secret](c).Namespace("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err == nil {
		t.Error("the policy is not enforced")
	}
}

// linesOf returns the lines with the prefix name.
func linesOf(lines map[string]bool, name string) (found []string) {
	for line := range lines {
		if strings.HasPrefix(line, name) {
			found = append(found, "  "+line)
		}
	}
	return found
}
