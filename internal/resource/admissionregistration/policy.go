package admissionregistration

import (
	"cmp"
	"regexp"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var (
	paramKindColumn = resource.Text("ParamKind", "The kind of the policy's parameters.")
	policyColumn    = resource.Text("PolicyName", "The policy that is bound.")
	paramRefColumn  = resource.Text("ParamRef", "The parameters the policy is bound with.")
)

var validatingPolicyTable = resource.TableOf(func(p *admissionv1.ValidatingAdmissionPolicy) []any {
	return []any{p.Name, int64(len(p.Spec.Validations)), paramKind(p.Spec.ParamKind), resource.AgeOf(p)}
}, resource.NameColumn, resource.Integer("Validations", "How many rules the policy has."), paramKindColumn, resource.AgeColumn)

var mutatingPolicyTable = resource.TableOf(func(p *admissionv1.MutatingAdmissionPolicy) []any {
	return []any{p.Name, int64(len(p.Spec.Mutations)), paramKind(p.Spec.ParamKind), resource.AgeOf(p)}
}, resource.NameColumn, resource.Integer("Mutations", "How many changes the policy makes."), paramKindColumn, resource.AgeColumn)

var validatingBindingTable = resource.TableOf(func(b *admissionv1.ValidatingAdmissionPolicyBinding) []any {
	return []any{b.Name, b.Spec.PolicyName, paramRef(b.Spec.ParamRef), resource.AgeOf(b)}
}, resource.NameColumn, policyColumn, paramRefColumn, resource.AgeColumn)

var mutatingBindingTable = resource.TableOf(func(b *admissionv1.MutatingAdmissionPolicyBinding) []any {
	return []any{b.Name, b.Spec.PolicyName, paramRef(b.Spec.ParamRef), resource.AgeOf(b)}
}, resource.NameColumn, policyColumn, paramRefColumn, resource.AgeColumn)

func paramKind(k *admissionv1.ParamKind) string {
	if k == nil {
		return resource.Unset
	}
	return k.APIVersion + "/" + k.Kind
}

func paramRef(r *admissionv1.ParamRef) string {
	switch {
	case r == nil:
		return resource.Unset
	case r.Name != "":
		return cmp.Or(r.Namespace, "*") + "/" + r.Name
	case r.Selector != nil:
		return r.Selector.String()
	}
	return resource.Unset
}

func validatingPolicyStrategy() resource.Strategy {
	r := resource.SplitCounted(func(p *admissionv1.ValidatingAdmissionPolicy) (*admissionv1.ValidatingAdmissionPolicySpec, *admissionv1.ValidatingAdmissionPolicyStatus) {
		return &p.Spec, &p.Status
	}).KeepMeta()
	r.Default = func(p *admissionv1.ValidatingAdmissionPolicy) {
		resource.SetDefault(&p.Spec.FailurePolicy, admissionv1.Fail)
		defaultMatch(p.Spec.MatchConstraints)
	}
	r.Validate = validateValidatingPolicy
	r.ValidateUpdate = func(p, _ *admissionv1.ValidatingAdmissionPolicy) field.ErrorList { return validateValidatingPolicy(p) }
	r.RequireResourceVersion = true
	return r.Strategy()
}

func validateValidatingPolicy(policy *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &policy.Spec
	policySpec(&f, p, s.FailurePolicy, s.ParamKind, s.MatchConstraints, s.MatchConditions)
	variables(&f, p.Child("variables"), s.Variables)
	if len(s.Validations) == 0 && len(s.AuditAnnotations) == 0 {
		const why = "validations or auditAnnotations must contain at least one item"
		f.Required(p.Child("validations"), why)
		f.Required(p.Child("auditAnnotations"), why)
	}
	for i, v := range s.Validations {
		at := p.Child("validations").Index(i)
		if strings.TrimSpace(v.Expression) == "" {
			f.Required(at.Child("expression"), "expression is not specified")
		}
		if strings.Contains(strings.TrimSpace(v.Message), "\n") {
			f.Invalid(at.Child("message"), v.Message, "message must not contain line breaks")
		}
		if v.Reason != nil {
			check.Known(&f, at.Child("reason"), *v.Reason, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid,
				metav1.StatusReasonRequestEntityTooLarge)
		}
	}
	seen := map[string]bool{}
	for i, a := range s.AuditAnnotations {
		at := p.Child("auditAnnotations").Index(i)
		if policy.Name == "" {
			f.Invalid(at.Child("key"), a.Key, "requires metadata.name be non-empty")
		} else {
			f.Qualified(at.Child("key"), policy.Name+"/"+a.Key)
		}
		if strings.TrimSpace(a.ValueExpression) == "" {
			f.Required(at.Child("valueExpression"), "valueExpression is not specified")
		}
		if seen[a.Key] {
			f.Duplicate(at.Child("key"), a.Key)
		}
		seen[a.Key] = true
	}
	return f.List()
}

func policySpec(f *check.Errors, p *check.Path, failure *admissionv1.FailurePolicyType, kind *admissionv1.ParamKind, match *admissionv1.MatchResources, conditions []admissionv1.MatchCondition) {
	if failure == nil {
		f.Required(p.Child("failurePolicy"), "")
	}
	failurePolicy(f, p.Child("failurePolicy"), failure)
	if kind != nil {
		at := p.Child("paramKind")
		if kind.APIVersion == "" {
			f.Required(at.Child("apiVersion"), "")
		} else if gv, err := schema.ParseGroupVersion(kind.APIVersion); err != nil {
			f.Invalid(at.Child("apiVersion"), kind.APIVersion, err.Error())
		} else {
			if msgs := validation.IsDNS1123Subdomain(gv.Group); gv.Group != "" && len(msgs) > 0 {
				f.Invalid(at.Child("apiVersion"), gv.Group, strings.Join(msgs, ","))
			}
			if msgs := validation.IsDNS1035Label(gv.Version); len(msgs) > 0 {
				f.Invalid(at.Child("apiVersion"), gv.Version, strings.Join(msgs, ","))
			}
		}
		if kind.Kind == "" {
			f.Required(at.Child("kind"), "")
		} else if msgs := validation.IsDNS1035Label(strings.ToLower(kind.Kind)); len(msgs) > 0 {
			f.Invalid(at.Child("kind"), kind.Kind, "may have mixed case, but should otherwise match: "+strings.Join(msgs, ","))
		}
	}
	at := p.Child("matchConstraints")
	if match == nil {
		f.Required(at, "")
	} else {
		matchResources(f, at, match)
		if len(match.ResourceRules) == 0 {
			f.Required(at.Child("resourceRules"), "")
		}
	}
	matchConditions(f, p.Child("matchConditions"), conditions)
}

func matchResources(f *check.Errors, p *check.Path, m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	if m.MatchPolicy != nil {
		check.Known(f, p.Child("matchPolicy"), *m.MatchPolicy, admissionv1.Equivalent, admissionv1.Exact)
	}
	if m.NamespaceSelector == nil {
		f.Required(p.Child("namespaceSelector"), "")
	}
	f.Selector(p.Child("namespaceSelector"), m.NamespaceSelector)
	if m.ObjectSelector == nil {
		f.Required(p.Child("objectSelector"), "")
	}
	f.Selector(p.Child("objectSelector"), m.ObjectSelector)
	for i := range m.ResourceRules {
		ruleWithOperations(f, p.Child("resourceRules").Index(i), &m.ResourceRules[i].RuleWithOperations)
	}
	for i := range m.ExcludeResourceRules {
		ruleWithOperations(f, p.Child("excludeResourceRules").Index(i), &m.ExcludeResourceRules[i].RuleWithOperations)
	}
}

// identifier and reserved define the names that CEL accepts.
var (
	identifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
	reserved   = func() map[string]bool {
		words := map[string]bool{}
		for _, w := range strings.Fields("true false null in as break const continue else for function if import let loop package namespace return var void while") {
			words[w] = true
		}
		return words
	}()
)

func variables(f *check.Errors, p *check.Path, list []admissionv1.Variable) {
	for i, v := range list {
		if strings.TrimSpace(v.Name) == "" {
			f.Required(p.Index(i).Child("name"), "name is not specified")
		} else if !identifier.MatchString(v.Name) || reserved[v.Name] {
			f.Invalid(p.Index(i).Child("name"), v.Name, "must be a valid CEL identifier")
		}
		if strings.TrimSpace(v.Expression) == "" {
			f.Required(p.Index(i).Child("expression"), "expression is not specified")
		}
	}
}

func mutatingPolicyStrategy() resource.Strategy {
	r := resource.SpecOnly(func(p *admissionv1.MutatingAdmissionPolicy) *admissionv1.MutatingAdmissionPolicySpec { return &p.Spec })
	r.Default = func(p *admissionv1.MutatingAdmissionPolicy) {
		resource.SetDefault(&p.Spec.FailurePolicy, admissionv1.Fail)
		defaultMatch(p.Spec.MatchConstraints)
	}
	r.Validate = validateMutatingPolicy
	r.ValidateUpdate = func(p, _ *admissionv1.MutatingAdmissionPolicy) field.ErrorList { return validateMutatingPolicy(p) }
	r.RequireResourceVersion = true
	return r.Strategy()
}

func validateMutatingPolicy(policy *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &policy.Spec
	policySpec(&f, p, s.FailurePolicy, s.ParamKind, s.MatchConstraints, s.MatchConditions)
	mutableOperations(&f, p.Child("matchConstraints"), s.MatchConstraints)
	variables(&f, p.Child("variables"), s.Variables)
	if len(s.Mutations) == 0 {
		f.Required(p.Child("mutations"), "mutations must contain at least one item")
	}
	for i := range s.Mutations {
		mutation(&f, p.Child("mutations").Index(i), &s.Mutations[i])
	}
	check.OneOf(&f, p.Child("reinvocationPolicy"), s.ReinvocationPolicy, admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
	return f.List()
}

// mutation requires the patch of its type, and only that.
func mutation(f *check.Errors, p *check.Path, m *admissionv1.Mutation) {
	apply, patch := p.Child("applyConfiguration"), p.Child("jsonPatch")
	switch m.PatchType {
	case "":
		f.Required(p.Child("patchType"), "")
	case admissionv1.PatchTypeApplyConfiguration:
		if m.ApplyConfiguration == nil {
			f.Required(apply, "must be specified when patchType is ApplyConfiguration")
		} else if strings.TrimSpace(m.ApplyConfiguration.Expression) == "" {
			f.Required(apply.Child("expression"), "")
		}
		if m.JSONPatch != nil {
			f.Invalid(patch, "{jsonPatch}", "must not be specified when patchType is ApplyConfiguration")
		}
	case admissionv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			f.Required(patch, "must be specified when patchType is JSONPatch")
		} else if strings.TrimSpace(m.JSONPatch.Expression) == "" {
			f.Required(patch.Child("expression"), "")
		}
		if m.ApplyConfiguration != nil {
			f.Invalid(apply, "{applyConfiguration}", "must not be specified when patchType is JSONPatch")
		}
	default:
		check.Known(f, p.Child("patchType"), m.PatchType, admissionv1.PatchTypeApplyConfiguration, admissionv1.PatchTypeJSONPatch)
	}
}

// mutableOperations refuses rules for deletions, which have no object to change. Its errors do not tell the rule, as in
// kube-apiserver.
func mutableOperations(f *check.Errors, p *check.Path, m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	for _, r := range m.ResourceRules {
		for _, o := range r.Operations {
			check.Known(f, p.Child("resourceRules", "operations"), o, admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Update)
		}
	}
}

func validatingBindingStrategy() resource.Strategy {
	r := resource.SpecOnly(func(b *admissionv1.ValidatingAdmissionPolicyBinding) *admissionv1.ValidatingAdmissionPolicyBindingSpec {
		return &b.Spec
	})
	r.Default = func(b *admissionv1.ValidatingAdmissionPolicyBinding) { defaultMatch(b.Spec.MatchResources) }
	r.Validate = validateValidatingBinding
	r.ValidateUpdate = func(b, _ *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
		return validateValidatingBinding(b)
	}
	r.RequireResourceVersion = true
	return r.Strategy()
}

func validateValidatingBinding(b *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	bindingSpec(&f, p, b.Spec.PolicyName, b.Spec.ParamRef, b.Spec.MatchResources)
	at := p.Child("validationActions")
	seen := map[admissionv1.ValidationAction]bool{}
	for i, a := range b.Spec.ValidationActions {
		check.Known(&f, at.Index(i), a, admissionv1.Audit, admissionv1.Deny, admissionv1.Warn)
		if seen[a] {
			f.Duplicate(at.Index(i), a)
		}
		seen[a] = true
	}
	if seen[admissionv1.Deny] && seen[admissionv1.Warn] {
		f.Invalid(at, b.Spec.ValidationActions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")
	}
	if len(seen) == 0 {
		f.Required(at, "")
	}
	return f.List()
}

func mutatingBindingStrategy() resource.Strategy {
	r := resource.SpecOnly(func(b *admissionv1.MutatingAdmissionPolicyBinding) *admissionv1.MutatingAdmissionPolicyBindingSpec {
		return &b.Spec
	})
	r.Default = func(b *admissionv1.MutatingAdmissionPolicyBinding) { defaultMatch(b.Spec.MatchResources) }
	validate := func(b *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
		var f check.Errors
		bindingSpec(&f, check.At("spec"), b.Spec.PolicyName, b.Spec.ParamRef, b.Spec.MatchResources)
		mutableOperations(&f, check.At("spec", "matchResources"), b.Spec.MatchResources)
		return f.List()
	}
	r.Validate = validate
	r.ValidateUpdate = func(b, _ *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList { return validate(b) }
	r.RequireResourceVersion = true
	return r.Strategy()
}

func bindingSpec(f *check.Errors, p *check.Path, policy string, ref *admissionv1.ParamRef, match *admissionv1.MatchResources) {
	if policy == "" {
		f.Required(p.Child("policyName"), "")
	} else {
		f.Subdomain(p.Child("policyName"), policy)
	}
	matchResources(f, p.Child("matchResources"), match)
	if ref == nil {
		return
	}
	p = p.Child("paramRef")
	const exclusive = "name and selector are mutually exclusive"
	if ref.Name != "" {
		f.Each(p.Child("name"), ref.Name, content.IsPathSegmentName(ref.Name))
	}
	f.Selector(p.Child("selector"), ref.Selector)
	switch {
	case ref.Name != "" && ref.Selector != nil:
		f.Forbidden(p.Child("name"), exclusive)
		f.Forbidden(p.Child("selector"), exclusive)
	case ref.Name == "" && ref.Selector == nil:
		f.Required(p, "one of name or selector must be specified")
	}
	if a := ref.ParameterNotFoundAction; a == nil {
		f.Required(p.Child("parameterNotFoundAction"), "")
	} else {
		check.OneOf(f, p.Child("parameterNotFoundAction"), *a, admissionv1.DenyAction, admissionv1.AllowAction)
	}
}
