package policy

import (
	"encoding/json"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"fairlead.dev/internal/server/admission/expr"
)

// rule is a compiled validation.
type rule struct {
	admissionv1.Validation
	check, message *expr.Program // message may be nil
}

type validatingPolicy struct {
	policy
	rules       []rule
	annotations []annotation
}

// annotation is a compiled audit annotation.
type annotation struct {
	key   string
	value *expr.Program
}

type mutatingPolicy struct {
	policy
	mutations []mutation
	again     bool
}

type mutation struct {
	apply   bool // an apply configuration; else a JSON patch
	program *expr.Program
}

// begin compiles the common parts of both sorts of policies. Expressions that do not compile return their error
// when they are run.
func begin(name string, kind *admissionv1.ParamKind, m *admissionv1.MatchResources, failure *admissionv1.FailurePolicyType,
	variables []admissionv1.Variable, conditions []admissionv1.MatchCondition) (p policy, o expr.Options, err error) {
	p = policy{name: name, param: kind, match: newMatch(m), ignore: failure != nil && *failure == admissionv1.Ignore}
	if p.scope, err = expr.WithVariables(expr.Stored); err != nil {
		return p, o, err
	}
	o = expr.Options{Params: kind != nil, Authorizer: true}
	for _, v := range variables {
		p.scope.Define(v.Name, v.Expression, o)
	}
	for _, c := range conditions {
		p.conditions = append(p.conditions, p.scope.Compile(c.Expression, o, expr.Bool))
	}
	return p, o, nil
}

func compileValidating(value []byte) (*validatingPolicy, error) {
	in := &admissionv1.ValidatingAdmissionPolicy{}
	if err := json.Unmarshal(value, in); err != nil {
		return nil, err
	}
	s := &in.Spec
	base, o, err := begin(in.Name, s.ParamKind, s.MatchConstraints, s.FailurePolicy, s.Variables, s.MatchConditions)
	if err != nil {
		return nil, err
	}
	p := &validatingPolicy{policy: base}
	for _, v := range s.Validations {
		r := rule{Validation: v, check: p.scope.Compile(v.Expression, o, expr.Bool)}
		if v.MessageExpression != "" {
			r.message = p.scope.Compile(v.MessageExpression, expr.Options{Params: o.Params}, expr.String)
		}
		p.rules = append(p.rules, r)
	}
	for _, a := range s.AuditAnnotations {
		p.annotations = append(p.annotations, annotation{a.Key, p.scope.Compile(a.ValueExpression, o, expr.String, expr.Null)})
	}
	return p, nil
}

func compileMutating(value []byte) (*mutatingPolicy, error) {
	in := &admissionv1.MutatingAdmissionPolicy{}
	if err := json.Unmarshal(value, in); err != nil {
		return nil, err
	}
	s := &in.Spec
	base, o, err := begin(in.Name, s.ParamKind, s.MatchConstraints, s.FailurePolicy, s.Variables, s.MatchConditions)
	if err != nil {
		return nil, err
	}
	p := &mutatingPolicy{policy: base, again: s.ReinvocationPolicy == admissionv1.IfNeededReinvocationPolicy}
	o.Patches = true
	for _, m := range s.Mutations {
		switch {
		case m.PatchType == admissionv1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
			p.mutations = append(p.mutations, mutation{true, p.scope.Compile(m.ApplyConfiguration.Expression, o, expr.Object)})
		case m.PatchType == admissionv1.PatchTypeJSONPatch && m.JSONPatch != nil:
			p.mutations = append(p.mutations, mutation{false, p.scope.Compile(m.JSONPatch.Expression, o, expr.Patches)})
		}
	}
	return p, nil
}

func readValidatingBinding(value []byte) (*binding, error) {
	in := &admissionv1.ValidatingAdmissionPolicyBinding{}
	err := json.Unmarshal(value, in)
	return newBinding(in.Name, in.Spec.PolicyName, in.Spec.ParamRef, in.Spec.MatchResources, in.Spec.ValidationActions), err
}

func readMutatingBinding(value []byte) (*binding, error) {
	in := &admissionv1.MutatingAdmissionPolicyBinding{}
	err := json.Unmarshal(value, in)
	return newBinding(in.Name, in.Spec.PolicyName, in.Spec.ParamRef, in.Spec.MatchResources, nil), err
}

func newBinding(name, policy string, ref *admissionv1.ParamRef, m *admissionv1.MatchResources, actions []admissionv1.ValidationAction) *binding {
	b := &binding{name: name, policy: policy, param: ref, actions: actions}
	if m != nil {
		x := newMatch(m)
		b.match = &x
	}
	return b
}
