// Package admissionregistration describes webhook configurations and admission policies.
package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := admissionv1.SchemeGroupVersion
	const category = "api-extensions"
	rows := []*resource.Resource{
		resource.ClusterScoped[admissionv1.MutatingAdmissionPolicy, admissionv1.MutatingAdmissionPolicyList](gv, "mutatingadmissionpolicies").
			WithCategories(category).
			WithTable(mutatingPolicyTable).WithStrategy(mutatingPolicyStrategy()),
		resource.ClusterScoped[admissionv1.MutatingAdmissionPolicyBinding, admissionv1.MutatingAdmissionPolicyBindingList](gv, "mutatingadmissionpolicybindings").
			WithCategories(category).
			WithTable(mutatingBindingTable).WithStrategy(mutatingBindingStrategy()),
		resource.ClusterScoped[admissionv1.MutatingWebhookConfiguration, admissionv1.MutatingWebhookConfigurationList](gv, "mutatingwebhookconfigurations").
			WithCategories(category).
			WithTable(mutatingWebhookTable).WithStrategy(mutatingWebhookStrategy()),
		resource.ClusterScoped[admissionv1.ValidatingAdmissionPolicy, admissionv1.ValidatingAdmissionPolicyList](gv, "validatingadmissionpolicies").
			WithCategories(category).WithStatus().
			WithTable(validatingPolicyTable).WithStrategy(validatingPolicyStrategy()),
		resource.ClusterScoped[admissionv1.ValidatingAdmissionPolicyBinding, admissionv1.ValidatingAdmissionPolicyBindingList](gv, "validatingadmissionpolicybindings").
			WithCategories(category).
			WithTable(validatingBindingTable).WithStrategy(validatingBindingStrategy()),
		resource.ClusterScoped[admissionv1.ValidatingWebhookConfiguration, admissionv1.ValidatingWebhookConfigurationList](gv, "validatingwebhookconfigurations").
			WithCategories(category).
			WithTable(validatingWebhookTable).WithStrategy(validatingWebhookStrategy()),
	}
	for _, r := range rows {
		refuseStatic(r)
	}
	return rows
}
