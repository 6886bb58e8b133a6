package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"fairlead.dev/internal/resource/check"
)

func ruleWithOperations(f *check.Errors, p *check.Path, r *admissionv1.RuleWithOperations) {
	at := p.Child("operations")
	if len(r.Operations) == 0 {
		f.Required(at, "")
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll) {
		f.Invalid(at, r.Operations, "if '*' is present, must not specify other operations")
	}
	for i, op := range r.Operations {
		check.Known(f, at.Index(i), op, admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Delete, admissionv1.Update)
	}
	wildcard(f, p.Child("apiGroups"), r.APIGroups, "API groups")
	wildcard(f, p.Child("apiVersions"), r.APIVersions, "API versions")
	for i, v := range r.APIVersions {
		if v == "" {
			f.Required(p.Child("apiVersions").Index(i), "")
		}
	}
	resources(f, p.Child("resources"), r.Resources)
	if r.Scope != nil {
		check.Known(f, p.Child("scope"), *r.Scope, admissionv1.AllScopes, admissionv1.ClusterScope, admissionv1.NamespacedScope)
	}
}

// wildcard requires a non-empty list, in which "*" stands alone.
func wildcard(f *check.Errors, p *check.Path, list []string, what string) {
	if len(list) == 0 {
		f.Required(p, "")
	}
	if len(list) > 1 && slices.Contains(list, "*") {
		f.Invalid(p, list, fmt.Sprintf("if '*' is present, must not specify other %s", what))
	}
}

// resources requires names of resources and subresources that are not covered by another's wildcard.
func resources(f *check.Errors, p *check.Path, list []string) {
	if len(list) == 0 {
		f.Required(p, "")
	}
	allOf, everyones := map[string]bool{}, map[string]bool{}
	star, plain := false, false
	for i, name := range list {
		if name == "" {
			f.Required(p.Index(i), "")
			continue
		}
		res, sub, ok := strings.Cut(name, "/")
		if !ok {
			star = star || name == "*"
			plain = name != "*"
			continue
		}
		if allOf[res] {
			f.Invalid(p.Index(i), name, fmt.Sprintf("if '%s/*' is present, must not specify %s", res, name))
		}
		if everyones[sub] {
			f.Invalid(p.Index(i), name, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, name))
		}
		if sub == "*" {
			allOf[res] = true
		}
		if res == "*" {
			everyones[sub] = true
		}
	}
	if len(list) > 1 && slices.Contains(list, "*/*") {
		f.Invalid(p, list, "if '*/*' is present, must not specify other resources")
	}
	if star && plain {
		f.Invalid(p, list, "if '*' is present, must not specify other resources without subresources")
	}
}
