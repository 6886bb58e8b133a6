package policy

import (
	"iter"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/server/admission/expr"
)

// expression is an expression in an object, with its allowed types.
type expression struct {
	at        *field.Path
	text      string
	options   expr.Options
	want      []*expr.Type
	variables bool   // may use variables
	variable  string // the name of the variable it defines
}

// expressions returns the expressions of an object of admission's kinds, variables before those that may use them.
// Other objects, and nil, have no expressions.
func expressions(obj runtime.Object) iter.Seq[expression] {
	return func(yield func(expression) bool) {
		for _, e := range expressionsOf(obj) {
			if !yield(e) {
				return
			}
		}
	}
}

func expressionsOf(obj runtime.Object) (list []expression) {
	spec := field.NewPath("spec")
	switch o := obj.(type) {
	case *admissionv1.MutatingWebhookConfiguration:
		for i, h := range o.Webhooks {
			list = append(list, conditions(field.NewPath("webhooks").Index(i), h.MatchConditions, false)...)
		}
	case *admissionv1.ValidatingWebhookConfiguration:
		for i, h := range o.Webhooks {
			list = append(list, conditions(field.NewPath("webhooks").Index(i), h.MatchConditions, false)...)
		}
	case *admissionv1.ValidatingAdmissionPolicy:
		params := o.Spec.ParamKind != nil
		list = append(variableExpressions(spec, o.Spec.Variables, params), conditions(spec, o.Spec.MatchConditions, params)...)
		for i, v := range o.Spec.Validations {
			at := spec.Child("validations").Index(i)
			list = append(list,
				expression{at: at.Child("expression"), text: v.Expression, options: expr.Options{Params: params, Authorizer: true}, want: []*expr.Type{expr.Bool}, variables: true},
				expression{at: at.Child("messageExpression"), text: v.MessageExpression, options: expr.Options{Params: params}, want: []*expr.Type{expr.String}, variables: true})
		}
		for i, a := range o.Spec.AuditAnnotations {
			list = append(list, expression{
				at: spec.Child("auditAnnotations").Index(i).Child("valueExpression"), text: strings.TrimSpace(a.ValueExpression),
				options: expr.Options{Params: params, Authorizer: true}, want: []*expr.Type{expr.String, expr.Null}, variables: true,
			})
		}
	case *admissionv1.MutatingAdmissionPolicy:
		params := o.Spec.ParamKind != nil
		list = append(variableExpressions(spec, o.Spec.Variables, params), conditions(spec, o.Spec.MatchConditions, params)...)
		for i, m := range o.Spec.Mutations {
			at := spec.Child("mutations").Index(i)
			options := expr.Options{Params: params, Authorizer: true, Patches: true}
			switch {
			case m.PatchType == admissionv1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
				list = append(list, expression{at: at.Child("applyConfiguration", "expression"), text: strings.TrimSpace(m.ApplyConfiguration.Expression),
					options: options, want: []*expr.Type{expr.Object}, variables: true})
			case m.PatchType == admissionv1.PatchTypeJSONPatch && m.JSONPatch != nil:
				list = append(list, expression{at: at.Child("jsonPatch", "expression"), text: strings.TrimSpace(m.JSONPatch.Expression),
					options: options, want: []*expr.Type{expr.Patches}, variables: true})
			}
		}
	}
	return list
}

func conditions(at *field.Path, list []admissionv1.MatchCondition, params bool) (out []expression) {
	for i, c := range list {
		out = append(out, expression{
			at: at.Child("matchConditions").Index(i).Child("expression"), text: c.Expression,
			options: expr.Options{Params: params, Authorizer: true}, want: []*expr.Type{expr.Bool},
		})
	}
	return out
}

func variableExpressions(at *field.Path, list []admissionv1.Variable, params bool) (out []expression) {
	for i, v := range list {
		out = append(out, expression{
			at: at.Child("variables").Index(i).Child("expression"), text: v.Expression, variable: v.Name,
			options: expr.Options{Params: params, Authorizer: true}, variables: true,
		})
	}
	return out
}
