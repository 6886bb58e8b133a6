package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/resource"
)

func defaultRules(rules []admissionv1.RuleWithOperations) {
	for i := range rules {
		resource.SetDefault(&rules[i].Scope, admissionv1.AllScopes)
	}
}

func defaultClient(c *admissionv1.WebhookClientConfig) {
	if c.Service != nil {
		resource.SetDefault(&c.Service.Port, 443)
	}
}

func defaultValidating(c *admissionv1.ValidatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		resource.SetDefault(&w.FailurePolicy, admissionv1.Fail)
		resource.SetDefault(&w.MatchPolicy, admissionv1.Equivalent)
		resource.SetDefault(&w.NamespaceSelector, metav1.LabelSelector{})
		resource.SetDefault(&w.ObjectSelector, metav1.LabelSelector{})
		resource.SetDefault(&w.TimeoutSeconds, 10)
		defaultClient(&w.ClientConfig)
		defaultRules(w.Rules)
	}
}

func defaultMutating(c *admissionv1.MutatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		resource.SetDefault(&w.FailurePolicy, admissionv1.Fail)
		resource.SetDefault(&w.MatchPolicy, admissionv1.Equivalent)
		resource.SetDefault(&w.NamespaceSelector, metav1.LabelSelector{})
		resource.SetDefault(&w.ObjectSelector, metav1.LabelSelector{})
		resource.SetDefault(&w.TimeoutSeconds, 10)
		resource.SetDefault(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		defaultClient(&w.ClientConfig)
		defaultRules(w.Rules)
	}
}

func defaultMatch(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	resource.SetDefault(&m.MatchPolicy, admissionv1.Equivalent)
	resource.SetDefault(&m.NamespaceSelector, metav1.LabelSelector{})
	resource.SetDefault(&m.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			resource.SetDefault(&rules[i].Scope, admissionv1.AllScopes)
		}
	}
}
