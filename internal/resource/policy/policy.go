// Package policy describes pod disruption budgets.
package policy

import (
	policyv1 "k8s.io/api/policy/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.NamespaceScoped[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](policyv1.SchemeGroupVersion, "poddisruptionbudgets").
			WithShortNames("pdb").WithNameRule(resource.PathSegmentName).WithMetaValidatedLast().WithStatus().WithTable(budgetTable).WithStrategy(budgetStrategy()),
	}
}

var budgetTable = resource.TableOf(func(b *policyv1.PodDisruptionBudget) []any {
	return []any{b.Name, orNA(b.Spec.MinAvailable), orNA(b.Spec.MaxUnavailable), int64(b.Status.DisruptionsAllowed), resource.AgeOf(b)}
},
	resource.NameColumn,
	resource.Text("Min Available", "How many pods must stay."),
	resource.Text("Max Unavailable", "How many pods may be gone."),
	resource.Integer("Allowed Disruptions", "How many pods may go now."),
	resource.AgeColumn,
)

func orNA(v *intstr.IntOrString) string {
	if v == nil {
		return "N/A"
	}
	return v.String()
}

func budgetStrategy() resource.Strategy {
	r := resource.SplitCounted(func(b *policyv1.PodDisruptionBudget) (*policyv1.PodDisruptionBudgetSpec, *policyv1.PodDisruptionBudgetStatus) {
		return &b.Spec, &b.Status
	})
	r.Validate = validateBudget
	r.ValidateUpdate = func(b, _ *policyv1.PodDisruptionBudget) field.ErrorList { return validateBudget(b) }
	r.ValidateStatusUpdate = func(b, _ *policyv1.PodDisruptionBudget) field.ErrorList {
		var f check.Errors
		p, s := check.At("status"), &b.Status
		f.Add(metavalidation.ValidateConditions(s.Conditions, p.Child("conditions").Field())...)
		f.NotNegative(p.Child("disruptionsAllowed"), int64(s.DisruptionsAllowed))
		f.NotNegative(p.Child("currentHealthy"), int64(s.CurrentHealthy))
		f.NotNegative(p.Child("desiredHealthy"), int64(s.DesiredHealthy))
		f.NotNegative(p.Child("expectedPods"), int64(s.ExpectedPods))
		return f.List()
	}
	r.RequireResourceVersion = true
	return r.Strategy()
}

func validateBudget(b *policyv1.PodDisruptionBudget) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &b.Spec
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		f.Invalid(p, *s, "minAvailable and maxUnavailable cannot be both set")
	}
	if v := s.MinAvailable; v != nil {
		f.CountOrPercent(p.Child("minAvailable"), *v)
		f.NotOver100(p.Child("minAvailable"), *v)
	}
	if v := s.MaxUnavailable; v != nil {
		f.CountOrPercent(p.Child("maxUnavailable"), *v)
		f.NotOver100(p.Child("maxUnavailable"), *v)
	}
	f.Selector(p.Child("selector"), s.Selector)
	if s.UnhealthyPodEvictionPolicy != nil {
		check.Known(&f, p.Child("unhealthyPodEvictionPolicy"), *s.UnhealthyPodEvictionPolicy, policyv1.AlwaysAllow, policyv1.IfHealthyBudget)
	}
	return f.List()
}
