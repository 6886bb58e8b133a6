package admissionregistration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var webhooksColumn = resource.Integer("Webhooks", "How many webhooks are configured.")

var mutatingWebhookTable = resource.TableOf(func(c *admissionv1.MutatingWebhookConfiguration) []any {
	return []any{c.Name, int64(len(c.Webhooks)), resource.AgeOf(c)}
}, resource.NameColumn, webhooksColumn, resource.AgeColumn)

var validatingWebhookTable = resource.TableOf(func(c *admissionv1.ValidatingWebhookConfiguration) []any {
	return []any{c.Name, int64(len(c.Webhooks)), resource.AgeOf(c)}
}, resource.NameColumn, webhooksColumn, resource.AgeColumn)

func mutatingWebhookStrategy() resource.Strategy {
	r := resource.SpecOnly(func(c *admissionv1.MutatingWebhookConfiguration) *[]admissionv1.MutatingWebhook { return &c.Webhooks })
	r.Default = defaultMutating
	r.Validate = validateMutating
	r.Warnings = warnMutating
	r.ValidateUpdate = func(c, _ *admissionv1.MutatingWebhookConfiguration) field.ErrorList { return validateMutating(c) }
	r.RequireResourceVersion = true
	return r.Strategy()
}

func validatingWebhookStrategy() resource.Strategy {
	r := resource.SpecOnly(func(c *admissionv1.ValidatingWebhookConfiguration) *[]admissionv1.ValidatingWebhook {
		return &c.Webhooks
	})
	r.Default = defaultValidating
	r.Validate = validateValidating
	r.Warnings = warnValidating
	r.ValidateUpdate = func(c, _ *admissionv1.ValidatingWebhookConfiguration) field.ErrorList { return validateValidating(c) }
	r.RequireResourceVersion = true
	return r.Strategy()
}

func validateMutating(c *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
	var f check.Errors
	names := map[string]bool{}
	for i := range c.Webhooks {
		m, p := &c.Webhooks[i], check.At("webhooks").Index(i)
		webhook(&f, p, &admissionv1.ValidatingWebhook{
			Name: m.Name, ClientConfig: m.ClientConfig, Rules: m.Rules, FailurePolicy: m.FailurePolicy, MatchPolicy: m.MatchPolicy,
			NamespaceSelector: m.NamespaceSelector, ObjectSelector: m.ObjectSelector, SideEffects: m.SideEffects,
			TimeoutSeconds: m.TimeoutSeconds, AdmissionReviewVersions: m.AdmissionReviewVersions, MatchConditions: m.MatchConditions,
		}, names)
		if m.ReinvocationPolicy != nil {
			check.Known(&f, p.Child("reinvocationPolicy"), *m.ReinvocationPolicy, admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		}
	}
	return f.List()
}

func validateValidating(c *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
	var f check.Errors
	names := map[string]bool{}
	for i := range c.Webhooks {
		webhook(&f, check.At("webhooks").Index(i), &c.Webhooks[i], names)
	}
	return f.List()
}

func webhook(f *check.Errors, p *check.Path, w *admissionv1.ValidatingWebhook, names map[string]bool) {
	f.Add(validation.IsFullyQualifiedName(p.Child("name").Field(), w.Name)...)
	for i := range w.Rules {
		ruleWithOperations(f, p.Child("rules").Index(i), &w.Rules[i])
	}
	failurePolicy(f, p.Child("failurePolicy"), w.FailurePolicy)
	if w.MatchPolicy != nil {
		check.Known(f, p.Child("matchPolicy"), *w.MatchPolicy, admissionv1.Equivalent, admissionv1.Exact)
	}
	if w.SideEffects == nil {
		f.Required(p.Child("sideEffects"), "must specify one of None, NoneOnDryRun")
	} else {
		check.Known(f, p.Child("sideEffects"), *w.SideEffects, admissionv1.SideEffectClassNone, admissionv1.SideEffectClassNoneOnDryRun)
	}
	if n := w.TimeoutSeconds; n != nil && (*n < 1 || *n > 30) {
		f.Invalid(p.Child("timeoutSeconds"), *n, "the timeout value must be between 1 and 30 seconds")
	}
	f.Selector(p.Child("namespaceSelector"), w.NamespaceSelector)
	f.Selector(p.Child("objectSelector"), w.ObjectSelector)
	switch c := &w.ClientConfig; {
	case (c.URL == nil) == (c.Service == nil):
		f.Required(p.Child("clientConfig"), "exactly one of url or service is required")
	case c.URL != nil:
		webhookURL(f, p.Child("clientConfig", "url"), *c.URL)
	default:
		webhookService(f, p.Child("clientConfig", "service"), c.Service)
	}
	matchConditions(f, p.Child("matchConditions"), w.MatchConditions)
	reviewVersions(f, p.Child("admissionReviewVersions"), w.AdmissionReviewVersions)
	if w.Name != "" {
		if names[w.Name] {
			f.Duplicate(p.Child("name"), w.Name)
		}
		names[w.Name] = true
	}
}

func failurePolicy(f *check.Errors, p *check.Path, policy *admissionv1.FailurePolicyType) {
	if policy != nil {
		check.Known(f, p, *policy, admissionv1.Fail, admissionv1.Ignore)
	}
}

func webhookURL(f *check.Errors, p *check.Path, s string) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(s)
	if err != nil {
		f.Required(p, "url must be a valid URL: "+err.Error()+form)
		return
	}
	if u.Scheme != "https" {
		f.Invalid(p, u.Scheme, "'https' is the only allowed URL scheme"+form)
	}
	if u.Host == "" {
		f.Invalid(p, u.Host, "host must be specified"+form)
	}
	if u.User != nil {
		f.Invalid(p, u.User.String(), "user information is not permitted in the URL")
	}
	if u.Fragment != "" {
		f.Invalid(p, u.Fragment, "fragments are not permitted in the URL")
	}
	if u.RawQuery != "" {
		f.Invalid(p, u.RawQuery, "query parameters are not permitted in the URL")
	}
}

func webhookService(f *check.Errors, p *check.Path, s *admissionv1.ServiceReference) {
	if s.Namespace == "" {
		f.Required(p.Child("name"), "") // kube-apiserver passes name and namespace in the wrong order
	}
	if s.Name == "" {
		f.Required(p.Child("namespace"), "")
	}
	if n := ptr.Deref(s.Port, 443); len(validation.IsValidPortNum(int(n))) > 0 {
		f.Invalid(p.Child("port"), n, "port is not valid: "+strings.Join(validation.IsValidPortNum(int(n)), ","))
	}
	if s.Path == nil || *s.Path == "/" || *s.Path == "" {
		return
	}
	at, path := p.Child("path"), *s.Path
	if path == "//" {
		f.Invalid(at, path, "segment[0] may not be empty")
		return
	}
	if !strings.HasPrefix(path, "/") {
		f.Invalid(at, path, "must start with a '/'")
	}
	for i, step := range strings.Split(strings.TrimSuffix(path[1:], "/"), "/") {
		if step == "" {
			f.Invalid(at, path, fmt.Sprintf("segment[%d] may not be empty", i))
			continue
		}
		for _, msg := range validation.IsDNS1123Subdomain(step) {
			f.Invalid(at, path, fmt.Sprintf("segment[%d]: %v", i, msg))
		}
	}
}

func reviewVersions(f *check.Errors, p *check.Path, versions []string) {
	known := []string{"v1", "v1beta1"}
	if len(versions) == 0 {
		f.Required(p, "must specify one of v1, v1beta1")
		return
	}
	some := false
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			f.Invalid(p.Index(i), v, "duplicate version")
			continue
		}
		f.Each(p.Index(i), v, validation.IsDNS1035Label(v))
		some = some || slices.Contains(known, v)
	}
	if !some {
		f.Invalid(p, versions, "must include at least one of v1, v1beta1")
	}
}

func matchConditions(f *check.Errors, p *check.Path, list []admissionv1.MatchCondition) {
	const maxConditions = 64
	if len(list) > maxConditions {
		f.Add(field.TooMany(p.Field(), len(list), maxConditions))
	}
	names := map[string]bool{}
	for i, c := range list {
		at := p.Index(i)
		if strings.TrimSpace(c.Expression) == "" {
			f.Required(at.Child("expression"), "")
		}
		if c.Name == "" {
			f.Required(at.Child("name"), "")
			continue
		}
		f.Qualified(at.Child("name"), c.Name)
		if names[c.Name] {
			f.Duplicate(at.Child("name"), c.Name)
		}
		names[c.Name] = true
	}
}
