package admission

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/auth"
)

// ClaimStatus requires rights beyond resourceclaims/status of a client that changes the status of a device claim:
// resourceclaims/binding for its allocation and consumers, and resourceclaims/driver for the report of each driver
// (KEP-4817). Like kube-apiserver's strategy of the kind, it adds faults and does not reject by itself.
type ClaimStatus struct{ Authorizer auth.Authorizer }

// Name implements Plugin.
func (ClaimStatus) Name() string { return "ClaimStatus" }

// Complete implements Completer.
func (p ClaimStatus) Complete(ctx context.Context, r *Request) error {
	if r.Verb != Update || r.Subresource != "status" || r.GroupResource() != deviceClaims {
		return nil
	}
	now, old := &r.Object.(*resourcev1.ResourceClaim).Status, &r.Old.(*resourcev1.ResourceClaim).Status
	if !equality.Semantic.DeepEqual(now.Allocation, old.Allocation) || !equality.Semantic.DeepEqual(now.ReservedFor, old.ReservedFor) {
		p.binding(ctx, r)
	}
	if now.Allocation != nil { // the reports of a claim without devices are dropped
		p.drivers(ctx, r, now, old)
	}
	return nil
}

// binding requires the right to allocate claims, in all namespaces, as the scheduler has it.
func (p ClaimStatus) binding(ctx context.Context, r *Request) {
	a := claimAttributes(r, resourcev1.SubresourceBinding, r.RequestVerb)
	a.Namespace, a.Name = "", ""
	if refusal := p.refusal(ctx, a); refusal != nil {
		r.Faults = append(r.Faults, field.Forbidden(field.NewPath("status", "allocation"),
			fmt.Sprintf(`changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="%s" permission: %v`, a.Verb, refusal)))
	}
}

// drivers requires the right to report for each driver whose reports change: for claims on any node or, of a service
// account on the claim's only node, for those on its own.
func (p ClaimStatus) drivers(ctx context.Context, r *Request, now, old *resourcev1.ResourceClaimStatus) {
	verbs := []string{resourcev1.VerbPrefixArbitraryNode + r.RequestVerb}
	if node := onlyNode(now.Allocation); node != "" && accountOn(r.User, node) {
		verbs = slices.Insert(verbs, 0, resourcev1.VerbPrefixAssociatedNode+r.RequestVerb)
	}
	for _, driver := range sets.List(changedDrivers(now.Devices, old.Devices)) {
		var first error
		allowed := slices.ContainsFunc(verbs, func(verb string) bool {
			a := claimAttributes(r, resourcev1.SubresourceDriver, verb)
			a.Name = driver
			refusal := p.refusal(ctx, a)
			if first == nil {
				first = refusal
			}
			return refusal == nil
		})
		if !allowed {
			r.Faults = append(r.Faults, field.Forbidden(field.NewPath("status", "devices"),
				fmt.Sprintf(`changing status.devices requires resource="resourceclaims/driver", verb="%s" permission: %v`, verbs, first)))
		}
	}
}

// claimAttributes describes a verb on a subresource of claims that exists only for authorization.
func claimAttributes(r *Request, subresource, verb string) auth.Attributes {
	return auth.Attributes{
		User: r.User, Verb: verb, IsResource: true, Group: r.Resource.Group, Version: r.Version,
		Resource: r.Resource.Plural, Subresource: subresource, Namespace: r.Namespace, Name: r.Name,
	}
}

// refusal returns nil if the authorizer allows an action, even if part of it failed.
func (p ClaimStatus) refusal(ctx context.Context, a auth.Attributes) error {
	d, reason, err := p.Authorizer.Authorize(ctx, a)
	switch {
	case d == auth.Allow:
		return nil
	case err != nil && reason != "":
		reason = fmt.Sprintf("%v: %s", err, reason)
	case err != nil:
		reason = err.Error()
	}
	return auth.Forbidden(a, reason)
}

// changedDrivers returns the drivers of the reports that are new, gone or different.
func changedDrivers(now, old []resourcev1.AllocatedDeviceStatus) sets.Set[string] {
	type device struct{ driver, pool, name, share string }
	of := func(d resourcev1.AllocatedDeviceStatus) device {
		return device{d.Driver, d.Pool, d.Device, ptr.Deref(d.ShareID, "")}
	}
	before := map[device]resourcev1.AllocatedDeviceStatus{}
	for _, d := range old {
		before[of(d)] = d
	}
	drivers := sets.Set[string]{}
	for _, d := range now {
		was, reported := before[of(d)]
		if !reported || !equality.Semantic.DeepEqual(was, d) {
			drivers.Insert(d.Driver)
		}
		delete(before, of(d))
	}
	for gone := range before {
		drivers.Insert(gone.driver)
	}
	return drivers
}

// onlyNode returns the node to which an allocation is bound by the field metadata.name, "" if there is none or more than
// one.
func onlyNode(a *resourcev1.AllocationResult) string {
	if a.NodeSelector == nil || len(a.NodeSelector.NodeSelectorTerms) != 1 {
		return ""
	}
	term := a.NodeSelector.NodeSelectorTerms[0]
	if len(term.MatchExpressions) > 0 || len(term.MatchFields) != 1 {
		return ""
	}
	f := term.MatchFields[0]
	if f.Key != "metadata.name" || f.Operator != corev1.NodeSelectorOpIn || len(f.Values) != 1 {
		return ""
	}
	return f.Values[0]
}

// accountOn reports whether a user is a service account whose token is bound to a pod on the node.
func accountOn(u *auth.User, node string) bool {
	_, _, account := auth.SplitServiceAccount(u.Name)
	return account && slices.Equal(u.Extra[auth.NodeName], []string{node})
}
