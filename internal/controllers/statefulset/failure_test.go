package statefulset_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
)

// If a set's claims cannot be given an owner, its retention policy is not applied; an event on the set names the
// claim and the reason.
func TestClaimsThatMayNotBeOwned(t *testing.T) {
	f := start(t)
	policies := client.For[*admissionv1.ValidatingAdmissionPolicy](f.c)
	bindings := client.For[*admissionv1.ValidatingAdmissionPolicyBinding](f.c)
	f.create(set(1, withClaims))
	f.settled(1)
	if _, err := policies.Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "nobodys"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"persistentvolumeclaims"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: "!has(object.metadata.ownerReferences)", Message: "claims are nobody's"}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := bindings.Create(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "nobodys"},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "nobodys", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}); err != nil {
		t.Fatal(err)
	}
	f.patch(map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": appsv1.DeletePersistentVolumeClaimRetentionPolicyType}})
	waittest.For(t, client.For[*corev1.Event](f.c).Namespace("default"), "the event", "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.Type == corev1.EventTypeWarning && e.Reason == "FailedUpdate" && e.InvolvedObject.Kind == "StatefulSet" &&
				strings.HasPrefix(e.Message, "Update Pod db-0 in StatefulSet db failed error: could not update claim data-db-0 for delete policy ownerRefs: ") &&
				strings.HasSuffix(e.Message, "claims are nobody's") {
				return true
			}
		}
		return false
	})
	if err := bindings.Delete(t.Context(), "nobodys"); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, f.claims, "data-db-0", "its owner", func(c *corev1.PersistentVolumeClaim) bool { return metav1.GetControllerOf(c) != nil })
}
