package replicaset_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// A set whose pod deletions are rejected has a condition with the reason in one line, and an event; once deletion
// is allowed, the pod and the condition disappear.
func TestPodsThatMayNotGo(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	sets := client.For[*appsv1.ReplicaSet](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	policies := client.For[*admissionv1.ValidatingAdmissionPolicy](c)
	bindings := client.For[*admissionv1.ValidatingAdmissionPolicyBinding](c)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	n := int32(1)
	_, err := sets.Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template()},
	})
	must(err)
	waittest.One(t, sets, "web", "its pod", func(rs *appsv1.ReplicaSet) bool { return rs.Status.AvailableReplicas == 1 })
	_, err = policies.Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "stay"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Delete},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "pods stay"}},
		},
	})
	must(err)
	_, err = bindings.Create(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "stay"},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "stay", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	})
	must(err)
	_, err = sets.Patch(t.Context(), "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": 0}}))
	must(err)
	failure := func(rs *appsv1.ReplicaSet) *appsv1.ReplicaSetCondition {
		for i := range rs.Status.Conditions {
			if rs.Status.Conditions[i].Type == appsv1.ReplicaSetReplicaFailure {
				return &rs.Status.Conditions[i]
			}
		}
		return nil
	}
	rs := waittest.One(t, sets, "web", "the failure", func(rs *appsv1.ReplicaSet) bool { return failure(rs) != nil })
	f := failure(rs)
	if f.Reason != "FailedDelete" || f.Status != corev1.ConditionTrue || !strings.HasPrefix(f.Message, `unable to delete pods: pods "web-`) ||
		!strings.HasSuffix(f.Message, "pods stay") || strings.Contains(f.Message, "\n") || rs.Status.Replicas != 1 {
		t.Errorf("%d replicas, %+v", rs.Status.Replicas, f)
	}
	waittest.For(t, client.For[*corev1.Event](c).Namespace("default"), "the event", "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.InvolvedObject.Name == "web" && e.Reason == "FailedDelete" && strings.HasPrefix(e.Message, `Error deleting: pods "web-`) {
				return true
			}
		}
		return false
	})
	if err := bindings.Delete(t.Context(), "stay"); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	waittest.One(t, sets, "web", "the end of the failure", func(rs *appsv1.ReplicaSet) bool { return failure(rs) == nil && rs.Status.Replicas == 0 })
	waittest.For(t, pods, "no pods", "", func(have map[string]*corev1.Pod) bool { return len(have) == 0 })
}
