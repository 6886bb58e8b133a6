// Package coordination describes leases and the candidates for them.
package coordination

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.NamespaceScoped[coordinationv1.Lease, coordinationv1.LeaseList](coordinationv1.SchemeGroupVersion, "leases").
			WithTable(leaseTable).WithStrategy(leaseStrategy),
		resource.NamespaceScoped[coordinationv1beta1.LeaseCandidate, coordinationv1beta1.LeaseCandidateList](coordinationv1beta1.SchemeGroupVersion, "leasecandidates").OnRequest().
			WithNameRule(candidateName).WithSelectableFields(resource.FieldAt("spec.leaseName", "")).
			WithTable(candidateTable).WithStrategy(candidateStrategy).
			WithVersionOnRequest(resource.VersionOf[coordinationv1alpha2.LeaseCandidate, coordinationv1alpha2.LeaseCandidateList]("v1alpha2"), nil, nil),
	}
}

var leaseTable = resource.TableOf(func(l *coordinationv1.Lease) []any {
	return []any{l.Name, ptr.Deref(l.Spec.HolderIdentity, ""), resource.AgeOf(l)}
}, resource.NameColumn, resource.Text("Holder", "Who holds the lease."), resource.AgeColumn)

var leaseStrategy = resource.Rules[*coordinationv1.Lease]{
	PrepareForCreate:       func(*coordinationv1.Lease) {},
	PrepareForUpdate:       func(_, _ *coordinationv1.Lease) {},
	Validate:               validateLease,
	ValidateUpdate:         func(l, _ *coordinationv1.Lease) field.ErrorList { return validateLease(l) },
	AllowCreateOnUpdate:    true,
	RequireResourceVersion: true,
}.Strategy()

// WithoutElections drops the fields of coordinated leader election from Leases, each of them unless the old Lease has it.
func WithoutElections(r *resource.Resource) {
	r.Strategy.PrepareForCreate = func(obj runtime.Object) {
		s := &obj.(*coordinationv1.Lease).Spec
		s.Strategy, s.PreferredHolder = nil, nil
	}
	r.Strategy.PrepareForUpdate = func(obj, old runtime.Object) {
		s, had := &obj.(*coordinationv1.Lease).Spec, old.(*coordinationv1.Lease).Spec
		if had.Strategy == nil {
			s.Strategy = nil
		}
		if had.PreferredHolder == nil {
			s.PreferredHolder = nil
		}
	}
}

func validateLease(l *coordinationv1.Lease) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &l.Spec
	if n := s.LeaseDurationSeconds; n != nil && *n <= 0 {
		f.Invalid(p.Child("leaseDurationSeconds"), n, "must be greater than 0")
	}
	if n := s.LeaseTransitions; n != nil && *n < 0 {
		f.Invalid(p.Child("leaseTransitions"), n, "must be greater than or equal to 0")
	}
	if s.Strategy != nil {
		strategy(&f, p.Child("strategy", "strategy"), *s.Strategy)
	}
	if ptr.Deref(s.PreferredHolder, "") != "" && (s.Strategy == nil || *s.Strategy == "") {
		f.Forbidden(p.Child("preferredHolder"), "may only be specified if `strategy` is defined")
	}
	return f.List()
}

// strategy requires one of Kubernetes' strategies, or a qualified name.
func strategy(f *check.Errors, p *check.Path, s coordinationv1.CoordinatedLeaseStrategy) {
	if strings.Contains(string(s), "/") {
		f.Qualified(p, string(s))
	} else {
		check.Known(f, p, s, coordinationv1.OldestEmulationVersion)
	}
}
