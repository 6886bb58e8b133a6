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
	return []*resource.Resource{
		resource.ClusterScoped[admissionv1.MutatingAdmissionPolicy, admissionv1.MutatingAdmissionPolicyList](gv, "mutatingadmissionpolicies").
			In(category).
			Shown(mutatingPolicyTable).Ruled(mutatingPolicyStrategy()),
		resource.ClusterScoped[admissionv1.MutatingAdmissionPolicyBinding, admissionv1.MutatingAdmissionPolicyBindingList](gv, "mutatingadmissionpolicybindings").
			In(category).
			Shown(mutatingBindingTable).Ruled(mutatingBindingStrategy()),
		resource.ClusterScoped[admissionv1.MutatingWebhookConfiguration, admissionv1.MutatingWebhookConfigurationList](gv, "mutatingwebhookconfigurations").
			In(category).
			Shown(mutatingWebhookTable).Ruled(mutatingWebhookStrategy()),
		resource.ClusterScoped[admissionv1.ValidatingAdmissionPolicy, admissionv1.ValidatingAdmissionPolicyList](gv, "validatingadmissionpolicies").
			In(category).WithStatus().
			Shown(validatingPolicyTable).Ruled(validatingPolicyStrategy()),
		resource.ClusterScoped[admissionv1.ValidatingAdmissionPolicyBinding, admissionv1.ValidatingAdmissionPolicyBindingList](gv, "validatingadmissionpolicybindings").
			In(category).
			Shown(validatingBindingTable).Ruled(validatingBindingStrategy()),
		resource.ClusterScoped[admissionv1.ValidatingWebhookConfiguration, admissionv1.ValidatingWebhookConfigurationList](gv, "validatingwebhookconfigurations").
			In(category).
			Shown(validatingWebhookTable).Ruled(validatingWebhookStrategy()),
	}
}
