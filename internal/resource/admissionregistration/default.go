package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func unset[T any](p **T, otherwise T) {
	if *p == nil {
		*p = &otherwise
	}
}

func defaultRules(rules []admissionv1.RuleWithOperations) {
	for i := range rules {
		unset(&rules[i].Scope, admissionv1.AllScopes)
	}
}

func defaultClient(c *admissionv1.WebhookClientConfig) {
	if c.Service != nil {
		unset(&c.Service.Port, 443)
	}
}

func defaultValidating(c *admissionv1.ValidatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		unset(&w.FailurePolicy, admissionv1.Fail)
		unset(&w.MatchPolicy, admissionv1.Equivalent)
		unset(&w.NamespaceSelector, metav1.LabelSelector{})
		unset(&w.ObjectSelector, metav1.LabelSelector{})
		unset(&w.TimeoutSeconds, 10)
		defaultClient(&w.ClientConfig)
		defaultRules(w.Rules)
	}
}

func defaultMutating(c *admissionv1.MutatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		unset(&w.FailurePolicy, admissionv1.Fail)
		unset(&w.MatchPolicy, admissionv1.Equivalent)
		unset(&w.NamespaceSelector, metav1.LabelSelector{})
		unset(&w.ObjectSelector, metav1.LabelSelector{})
		unset(&w.TimeoutSeconds, 10)
		unset(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		defaultClient(&w.ClientConfig)
		defaultRules(w.Rules)
	}
}

func defaultMatch(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	unset(&m.MatchPolicy, admissionv1.Equivalent)
	unset(&m.NamespaceSelector, metav1.LabelSelector{})
	unset(&m.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			unset(&rules[i].Scope, admissionv1.AllScopes)
		}
	}
}
