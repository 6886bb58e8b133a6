package gates

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// preferClose refuses the traffic distributions that came after the first.
func preferClose(s, _ *corev1.Service) (errs field.ErrorList) {
	if d := s.Spec.TrafficDistribution; d != nil && *d != corev1.ServiceTrafficDistributionPreferClose {
		errs = append(errs, field.NotSupported(field.NewPath("spec", "trafficDistribution"), *d, []string{corev1.ServiceTrafficDistributionPreferClose}))
	}
	return errs
}

// backendNames refuses names of services that begin with a digit.
func backendNames(ingress, _ *networkingv1.Ingress) (errs field.ErrorList) {
	check := func(b *networkingv1.IngressBackend, p *field.Path) {
		if b == nil || b.Service == nil || b.Service.Name == "" {
			return
		}
		for _, why := range apivalidation.NameIsDNS1035Label(b.Service.Name, false) {
			errs = append(errs, field.Invalid(p.Child("service", "name"), b.Service.Name, why))
		}
	}
	spec := field.NewPath("spec")
	check(ingress.Spec.DefaultBackend, spec.Child("defaultBackend"))
	for i, r := range ingress.Spec.Rules {
		if r.HTTP == nil {
			continue
		}
		for j := range r.HTTP.Paths {
			check(&r.HTTP.Paths[j].Backend, spec.Child("rules").Index(i).Child("http", "paths").Index(j).Child("backend"))
		}
	}
	return errs
}
