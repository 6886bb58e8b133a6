// Package admissionregistration describes webhook configurations and admission policies.
package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := admissionv1.SchemeGroupVersion
	const category = "api-extensions"
	rows := []*resource.Resource{
		resource.ClusterScoped[admissionv1.MutatingAdmissionPolicy, admissionv1.MutatingAdmissionPolicyList](gv, "mutatingadmissionpolicies").
			WithCategories(category).
			WithTable(mutatingPolicyTable).WithStrategy(mutatingPolicyStrategy()).
			WithVersionOnRequest(resource.VersionOf[admissionv1beta1.MutatingAdmissionPolicy, admissionv1beta1.MutatingAdmissionPolicyList]("v1beta1"), nil, nil).
			WithVersionOnRequest(resource.VersionOf[admissionv1alpha1.MutatingAdmissionPolicy, admissionv1alpha1.MutatingAdmissionPolicyList]("v1alpha1"), nil, nil),
		resource.ClusterScoped[admissionv1.MutatingAdmissionPolicyBinding, admissionv1.MutatingAdmissionPolicyBindingList](gv, "mutatingadmissionpolicybindings").
			WithCategories(category).
			WithTable(mutatingBindingTable).WithStrategy(mutatingBindingStrategy()).
			WithVersionOnRequest(resource.VersionOf[admissionv1beta1.MutatingAdmissionPolicyBinding, admissionv1beta1.MutatingAdmissionPolicyBindingList]("v1beta1"), nil, nil).
			WithVersionOnRequest(resource.VersionOf[admissionv1alpha1.MutatingAdmissionPolicyBinding, admissionv1alpha1.MutatingAdmissionPolicyBindingList]("v1alpha1"), nil, nil),
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
