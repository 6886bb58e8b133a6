package flowcontrol

import (
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var schemaTable = resource.TableOf(func(s *flowcontrolv1.FlowSchema) []any {
	method, missing := resource.None, "?"
	if s.Spec.DistinguisherMethod != nil {
		method = string(s.Spec.DistinguisherMethod.Type)
	}
	for _, c := range s.Status.Conditions {
		if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
			missing = string(c.Status)
			break
		}
	}
	return []any{
		s.Name, s.Spec.PriorityLevelConfiguration.Name, int64(s.Spec.MatchingPrecedence), method, resource.AgeOf(s), missing,
	}
},
	resource.NameColumn,
	resource.Text("PriorityLevel", "The level that requests of the schema get."),
	resource.Text("MatchingPrecedence", "Which schema is tried first: the lower."),
	resource.Text("DistinguisherMethod", "What tells the flows of the schema apart."),
	resource.AgeColumn,
	resource.Text("MissingPL", "Whether the level does not exist."),
)

func schemaStrategy() resource.Strategy {
	r := resource.SplitCounted(func(s *flowcontrolv1.FlowSchema) (*flowcontrolv1.FlowSchemaSpec, *flowcontrolv1.FlowSchemaStatus) {
		return &s.Spec, &s.Status
	})
	keep := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(s, old *flowcontrolv1.FlowSchema) {
		keep(s, old)
		fields := s.ManagedFields
		s.ObjectMeta = old.ObjectMeta
		s.ManagedFields = fields
	}
	r.Default = func(s *flowcontrolv1.FlowSchema) {
		if s.Spec.MatchingPrecedence == 0 {
			s.Spec.MatchingPrecedence = 1000
		}
	}
	r.Validate = validateSchema
	r.ValidateUpdate = func(s, _ *flowcontrolv1.FlowSchema) field.ErrorList { return validateSchema(s) }
	r.ValidateStatusUpdate = func(s, _ *flowcontrolv1.FlowSchema) field.ErrorList { return schemaConditions(s) }
	return r.Strategy()
}

const (
	exempt        = "exempt"
	maxPrecedence = 10000
)

func validateSchema(s *flowcontrolv1.FlowSchema) field.ErrorList {
	var f check.Errors
	p, spec := check.At("spec"), &s.Spec
	at := p.Child("matchingPrecedence")
	if spec.MatchingPrecedence <= 0 {
		f.Invalid(at, spec.MatchingPrecedence, "must be a positive value")
	}
	if spec.MatchingPrecedence > maxPrecedence {
		f.Invalid(at, spec.MatchingPrecedence, fmt.Sprintf("must not be greater than %d", maxPrecedence))
	}
	if spec.MatchingPrecedence == 1 && s.Name != exempt {
		f.Invalid(at, spec.MatchingPrecedence, "only the schema named 'exempt' may have matchingPrecedence 1")
	}
	if m := spec.DistinguisherMethod; m != nil {
		switch m.Type {
		case flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType:
		default: // quoted as a whole
			f.Add(field.NotSupported(p.Child("distinguisherMethod", "type").Field(), m, []flowcontrolv1.FlowDistinguisherMethodType{
				flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType,
			}))
		}
	}
	at = p.Child("priorityLevelConfiguration", "name")
	if level := spec.PriorityLevelConfiguration.Name; level == "" {
		f.Required(at, "must reference a priority level")
	} else {
		f.Subdomain(at, level)
	}
	for i := range spec.Rules {
		schemaRule(&f, p.Child("rules").Index(i), &spec.Rules[i])
	}
	for _, fixed := range bootstrap.MandatoryFlowSchemas {
		if fixed.Name == s.Name && !equality.Semantic.DeepEqual(fixed.Spec, s.Spec) {
			f.Invalid(p, s.Spec, fmt.Sprintf("spec of '%s' must equal the fixed value", s.Name))
		}
	}
	return f.List()
}

func schemaConditions(s *flowcontrolv1.FlowSchema) field.ErrorList {
	var f check.Errors
	seen := map[flowcontrolv1.FlowSchemaConditionType]bool{}
	for i, c := range s.Status.Conditions {
		at := check.At("status", "conditions").Index(i).Child("type")
		if c.Type == "" {
			f.Required(at, "")
		}
		if seen[c.Type] {
			f.Duplicate(at, c.Type)
		}
		seen[c.Type] = true
	}
	return f.List()
}

func schemaRule(f *check.Errors, p *check.Path, r *flowcontrolv1.PolicyRulesWithSubjects) {
	if len(r.Subjects) == 0 {
		f.Required(p.Child("subjects"), "subjects must contain at least one value")
	}
	for i := range r.Subjects {
		subject(f, p.Child("subjects").Index(i), &r.Subjects[i])
	}
	if len(r.ResourceRules) == 0 && len(r.NonResourceRules) == 0 {
		f.Required(p, "at least one of resourceRules and nonResourceRules has to be non-empty")
	}
	for i, rule := range r.ResourceRules {
		at := p.Child("resourceRules").Index(i)
		verbs(f, at.Child("verbs"), rule.Verbs)
		some(f, at.Child("apiGroups"), rule.APIGroups, "resource rules must supply at least one api group", "api groups")
		some(f, at.Child("resources"), rule.Resources, "resource rules must supply at least one resource", "resources")
		switch at := at.Child("namespaces"); {
		case len(rule.Namespaces) == 0 && !rule.ClusterScope:
			f.Required(at, "resource rules that are not cluster scoped must supply at least one namespace")
		case slices.Contains(rule.Namespaces, "*"):
			if len(rule.Namespaces) > 1 {
				f.Invalid(at, rule.Namespaces, "if '*' is present, must not specify other namespaces")
			}
		default:
			for k, ns := range rule.Namespaces {
				for _, msg := range apivalidation.ValidateNamespaceName(ns, false) {
					f.Invalid(at.Index(k), ns, "each member of this list must be '*' or a DNS-1123 label; "+msg)
				}
			}
		}
	}
	for i, rule := range r.NonResourceRules {
		at := p.Child("nonResourceRules").Index(i)
		verbs(f, at.Child("verbs"), rule.Verbs)
		some(f, at.Child("nonResourceURLs"), rule.NonResourceURLs, "nonResourceURLs must contain at least one value", "non-resource URLs")
		for k, url := range rule.NonResourceURLs {
			if fault := faultOfURL(url); fault != "" && !slices.Contains(rule.NonResourceURLs, "*") {
				f.Invalid(at.Child("nonResourceURLs").Index(k), url, fault)
			}
		}
	}
}

// faultOfURL returns the error in a non-resource path, "" if it is valid.
func faultOfURL(url string) string {
	switch {
	case url == "":
		return "must not be empty"
	case url[0] != '/':
		return "must start with slash"
	case strings.Contains(url, " "):
		return "must not contain white-space"
	case strings.Contains(url, "//"):
		return "must not contain double slash"
	}
	if n := strings.Count(url, "*"); n > 1 || n == 1 && !strings.HasSuffix(url, "/*") {
		return "wildcard can only do suffix matching"
	}
	return ""
}

func some(f *check.Errors, p *check.Path, list []string, why, what string) {
	if len(list) == 0 {
		f.Required(p, why)
	} else if len(list) > 1 && slices.Contains(list, "*") {
		f.Invalid(p, list, fmt.Sprintf("if '*' is present, must not specify other %s", what))
	}
}

var known = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

func verbs(f *check.Errors, p *check.Path, list []string) {
	some(f, p, list, "verbs must contain at least one value", "verbs")
	if slices.Contains(list, "*") {
		return
	}
	for _, v := range list {
		if !slices.Contains(known, v) {
			f.Add(field.NotSupported(p.Field(), list, known))
			return
		}
	}
}

func subject(f *check.Errors, p *check.Path, s *flowcontrolv1.Subject) {
	type field struct {
		kind    flowcontrolv1.SubjectKind
		name    string
		set     bool
		subject string
	}
	fields := []field{
		{flowcontrolv1.SubjectKindServiceAccount, "serviceAccount", s.ServiceAccount != nil, ""},
		{flowcontrolv1.SubjectKindUser, "user", s.User != nil, ""},
		{flowcontrolv1.SubjectKindGroup, "group", s.Group != nil, ""},
	}
	if s.User != nil {
		fields[1].subject = s.User.Name
	}
	if s.Group != nil {
		fields[2].subject = s.Group.Name
	}
	check.Known(f, p.Child("kind"), s.Kind, flowcontrolv1.SubjectKindGroup, flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser)
	if !slices.ContainsFunc(fields, func(x field) bool { return x.kind == s.Kind }) {
		return
	}
	for _, x := range fields {
		at := p.Child(x.name)
		switch {
		case x.kind != s.Kind && x.set:
			f.Forbidden(at, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", x.name, x.kind))
		case x.kind != s.Kind:
		case !x.set:
			f.Required(at, fmt.Sprintf("%s is required when subject kind is '%s'", x.name, x.kind))
		case x.kind == flowcontrolv1.SubjectKindServiceAccount:
			account(f, at, s.ServiceAccount)
		case x.subject == "":
			f.Required(at.Child("name"), "")
		}
	}
}

func account(f *check.Errors, p *check.Path, a *flowcontrolv1.ServiceAccountSubject) {
	if a.Name == "" {
		f.Required(p.Child("name"), "")
	} else if a.Name != "*" {
		f.Each(p.Child("name"), a.Name, apivalidation.ValidateServiceAccountName(a.Name, false))
	}
	if a.Namespace == "" {
		f.Required(p.Child("namespace"), "must specify namespace for service account")
	} else {
		f.Each(p.Child("namespace"), a.Namespace, apivalidation.ValidateNamespaceName(a.Namespace, false))
	}
}
