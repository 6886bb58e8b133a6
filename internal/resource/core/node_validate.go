package core

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

func validateNode(n *corev1.Node) field.ErrorList {
	var f check.Errors
	taints(&f, check.At("metadata", "taints"), n.Spec.Taints)
	nodeResources(&f, n)
	if swap := n.Status.NodeInfo.Swap; swap != nil && swap.Capacity != nil {
		f.Positive(check.At("metadata", "nodeSwapStatus", "capacity"), *swap.Capacity)
	}
	declaredFeatures(&f, check.At("status", "declaredFeatures"), n.Status.DeclaredFeatures)
	p := check.At("spec", "podCIDRs")
	for i, c := range n.Spec.PodCIDRs {
		f.CIDR(p.Index(i), c)
	}
	if c := n.Spec.PodCIDRs; len(c) > 1 {
		both, err := netutils.IsDualStackCIDRStrings(c)
		if err != nil {
			f.Add(field.InternalError(p.Field(), fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%w", err)))
		}
		if !both || len(c) > 2 {
			f.Invalid(p, c, "may specify no more than one CIDR for each IP family")
		}
	}
	return f.List()
}

func nodeResources(f *check.Errors, n *corev1.Node) {
	for _, name := range check.Names(n.Status.Capacity) {
		f.Amount(check.At("status", "capacity", string(name)), name, n.Status.Capacity[name])
	}
	for _, name := range check.Names(n.Status.Allocatable) {
		f.Amount(check.At("status", "allocatable", string(name)), name, n.Status.Allocatable[name])
	}
}

var featureName = regexp.MustCompile("^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$")

// declaredFeatures requires names in alphabetical order, without duplicates.
func declaredFeatures(f *check.Errors, p *check.Path, names []string) {
	for i, name := range names {
		const maxLen = validation.DNS1123SubdomainMaxLength
		if len(name) > maxLen {
			f.Invalid(p.Index(i), name, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", name, maxLen))
		} else if !featureName.MatchString(name) {
			f.Invalid(p.Index(i), name, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name))
		}
		if i > 0 && name == names[i-1] {
			f.Duplicate(p.Index(i), name)
		} else if i > 0 && name < names[i-1] {
			f.Invalid(p.Index(i), name, "list must be sorted alphabetically")
		}
	}
}

func taints(f *check.Errors, p *check.Path, list []corev1.Taint) {
	type once struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := map[once]bool{}
	for i, t := range list {
		at := p.Index(i)
		f.LabelKey(at.Child("key"), t.Key)
		if msgs := validation.IsValidLabelValue(t.Value); len(msgs) > 0 {
			f.Invalid(at.Child("value"), t.Value, strings.Join(msgs, ";"))
		}
		podspec.TaintEffect(f, at.Child("effect"), t.Effect)
		if key := (once{t.Key, t.Effect}); seen[key] {
			twice := field.Duplicate(at.Field(), t)
			twice.Detail = "taints must be unique by key and effect pair"
			f.Add(twice)
		} else {
			seen[key] = true
		}
	}
}

func validateNodeUpdate(n, old *corev1.Node) field.ErrorList {
	var f check.Errors
	f.Add(validateNode(n)...)
	seen := map[corev1.NodeAddress]bool{}
	for i, a := range n.Status.Addresses {
		if seen[a] {
			f.Duplicate(check.At("status", "addresses").Index(i), a)
		}
		seen[a] = true
	}
	if was, now := old.Spec.PodCIDRs, n.Spec.PodCIDRs; len(was) > 0 && strings.Join(was, ",") != strings.Join(now, ",") {
		f.Forbidden(check.At("spec", "podCIDRs"), "node updates may not change podCIDR except from \"\" to valid")
	}
	if was := old.Spec.ProviderID; was != "" && was != n.Spec.ProviderID {
		f.Forbidden(check.At("spec", "providerID"), "node updates may not change providerID except from \"\" to valid")
	}
	if n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		f.Forbidden(check.At("spec", "externalID"), "may not be updated")
	}
	return f.List()
}
