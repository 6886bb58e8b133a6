package admission

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	corerules "fairlead.dev/internal/resource/core"
)

// families defaults the IP families and their policy. Its errors are reported before the rest of the service is
// examined.
func (t *allocation) families() error {
	s := &t.svc.Spec
	if s.Type == corev1.ServiceTypeExternalName || len(t.a.families) == 0 || t.prefersAsBefore() {
		return nil
	}
	if s.IPFamilyPolicy == nil {
		s.IPFamilyPolicy = ptr.To(t.policy())
	}
	if err := invalidService(t.svc, corerules.ValidateServiceAddresses(t.svc, t.old)...); err != nil {
		return err
	}
	errs := t.releases()
	errs = append(errs, t.inferFamilies()...)
	if len(errs) > 0 {
		return invalidService(t.svc, errs...)
	}
	bare := s.ClusterIP == corev1.ClusterIPNone && len(s.Selector) == 0
	if !bare {
		if err := invalidService(t.svc, t.configured()...); err != nil {
			return err
		}
	}
	if len(s.IPFamilies) == 0 {
		s.IPFamilies = []corev1.IPFamily{t.a.families[0]}
	}
	dual := len(t.a.families) > 1
	if *s.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack && len(s.IPFamilies) == 1 && (bare || dual) {
		s.IPFamilies = append(s.IPFamilies, otherFamily(s.IPFamilies[0]))
	}
	return nil
}

// prefersAsBefore reports whether an update of a service that prefers dual-stack leaves the relevant fields unchanged. Such a service keeps its families when the server's families change.
func (t *allocation) prefersAsBefore() bool {
	s, was := &t.svc.Spec, &t.old.Spec
	prefers := func(p *corev1.IPFamilyPolicy) bool { return p == nil || *p == corev1.IPFamilyPolicyPreferDualStack }
	return t.r.Verb == Update && s.IPFamilyPolicy != nil && s.Type == was.Type &&
		prefers(s.IPFamilyPolicy) && prefers(was.IPFamilyPolicy) &&
		slices.Equal(s.ClusterIPs, was.ClusterIPs) && slices.Equal(s.IPFamilies, was.IPFamilies)
}

// policy returns the default policy.
func (t *allocation) policy() corev1.IPFamilyPolicy {
	switch s := &t.svc.Spec; {
	case t.old.Spec.IPFamilyPolicy != nil:
		return *t.old.Spec.IPFamilyPolicy
	case s.ClusterIP == corev1.ClusterIPNone && len(s.Selector) == 0:
		return corev1.IPFamilyPolicyRequireDualStack
	}
	return corev1.IPFamilyPolicySingleStack
}

// releases releases the second family of a service that has become single-stack. An update that merely omits the
// secondary values does not release it.
func (t *allocation) releases() (errs field.ErrorList) {
	s, was, path := &t.svc.Spec, &t.old.Spec, field.NewPath("spec", "ipFamilyPolicy")
	single := *s.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	fault := func(why string) { errs = append(errs, field.Invalid(path, s.IPFamilyPolicy, why)) }
	fewer := func(now, was int) bool { return now > 0 && now < was }
	switch {
	case t.r.Verb == Update && single:
		if len(s.ClusterIPs) > 1 && slices.Equal(s.ClusterIPs, was.ClusterIPs) {
			s.ClusterIPs = s.ClusterIPs[:1]
		}
		if len(s.IPFamilies) > 1 && slices.Equal(s.IPFamilies, was.IPFamilies) {
			s.IPFamilies = s.IPFamilies[:1]
		}
	case t.r.Verb == Update:
		if fewer(len(s.ClusterIPs), len(was.ClusterIPs)) {
			fault("must be 'SingleStack' to release the secondary cluster IP")
		}
		if fewer(len(s.IPFamilies), len(was.IPFamilies)) {
			fault("must be 'SingleStack' to release the secondary IP family")
		}
	}
	if single && len(s.ClusterIPs) == 2 {
		fault("must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified")
	}
	if single && len(s.IPFamilies) == 2 {
		fault("must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified")
	}
	return errs
}

// inferFamilies infers missing families from the given addresses.
func (t *allocation) inferFamilies() (errs field.ErrorList) {
	s := &t.svc.Spec
	for i, text := range s.ClusterIPs {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			break // a headless service
		}
		family := familyOf(ip)
		switch {
		case i < len(s.IPFamilies):
		case !slices.Contains(t.a.families, family):
			at := field.NewPath("spec", "clusterIPs").Index(i)
			errs = append(errs, field.Invalid(at, s.ClusterIPs, fmt.Sprintf("%s is not configured on this cluster", family)))
		default:
			s.IPFamilies = append(s.IPFamilies, family)
		}
	}
	return errs
}

// configured requires families for which this server has ranges.
func (t *allocation) configured() (errs field.ErrorList) {
	s, spec := &t.svc.Spec, field.NewPath("spec")
	if *s.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack && len(t.a.families) < 2 {
		errs = append(errs, field.Invalid(spec.Child("ipFamilyPolicy"), s.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
	}
	for i, f := range s.IPFamilies {
		if !slices.Contains(t.a.families, f) {
			errs = append(errs, field.Invalid(spec.Child("ipFamilies").Index(i), f, "not configured on this cluster"))
		}
	}
	return errs
}

func otherFamily(f corev1.IPFamily) corev1.IPFamily {
	if f == corev1.IPv6Protocol {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}
