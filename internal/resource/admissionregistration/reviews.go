package admissionregistration

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource/check"
)

// reviews are the resources that no webhook sees, because one that fails could lock everyone out: the server admits them
// without any plugin.
var reviews = []schema.GroupResource{
	authenticationv1.Resource("selfsubjectreviews"),
	authenticationv1.Resource("tokenreviews"),
	authorizationv1.Resource("localsubjectaccessreviews"),
	authorizationv1.Resource("selfsubjectaccessreviews"),
	authorizationv1.Resource("selfsubjectrulesreviews"),
	authorizationv1.Resource("subjectaccessreviews"),
}

// warnReviews returns a warning for each review that a rule of a webhook names. A rule with a wildcard may mean others.
func warnReviews(webhook int, rules []admissionv1.RuleWithOperations) (texts []string) {
	for i, rule := range rules {
		if slices.Contains(rule.APIGroups, "*") || slices.Contains(rule.Resources, "*") {
			continue
		}
		var seen []schema.GroupResource
		for _, group := range rule.APIGroups {
			for _, name := range rule.Resources {
				r := schema.GroupResource{Group: group, Resource: name}
				if slices.Contains(reviews, r) && !slices.Contains(seen, r) {
					seen = append(seen, r)
					texts = append(texts, fmt.Sprintf("%s: %s is excluded from admission webhooks; this rule will have no effect",
						check.At("webhooks").Index(webhook).Child("rules").Index(i), r))
				}
			}
		}
	}
	return texts
}

func warnMutating(c *admissionv1.MutatingWebhookConfiguration) (texts []string) {
	for i := range c.Webhooks {
		texts = append(texts, warnReviews(i, c.Webhooks[i].Rules)...)
	}
	return texts
}

func warnValidating(c *admissionv1.ValidatingWebhookConfiguration) (texts []string) {
	for i := range c.Webhooks {
		texts = append(texts, warnReviews(i, c.Webhooks[i].Rules)...)
	}
	return texts
}
