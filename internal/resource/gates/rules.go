package gates

import (
	"slices"

	"fairlead.dev/internal/resource"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A rule changes a resource if its gate is off.
type rule struct {
	gate  string
	of    schema.GroupResource
	apply func(*resource.Resource)
}

var rules = []rule{
	{"RelaxedServiceNameValidation", corev1.Resource("services"), func(r *resource.Resource) { r.Name = apivalidation.NameIsDNS1035Label }},
	{"RelaxedServiceNameValidation", networkingv1.Resource("ingresses"), func(r *resource.Resource) { check(r, backendNames) }},
	{"PreferSameTrafficDistribution", corev1.Resource("services"), func(r *resource.Resource) { check(r, preferClose) }},
	{"RestartAllContainersOnContainerExits", corev1.Resource("pods"), func(r *resource.Resource) { check(r, restartOne) }},
	{"CSIServiceAccountTokenSecrets", storagev1.Resource("csidrivers"), func(r *resource.Resource) {
		r.Strategy.Warnings, r.Strategy.UpdateWarnings = nil, nil // which advise to use the field
	}},
}

// check adds a function to the validation of a resource. Its errors replace those about the same fields.
func check[T runtime.Object](r *resource.Resource, of func(obj, old T) field.ErrorList) {
	s := &r.Strategy
	create, update := s.Validate, s.ValidateUpdate
	s.Validate = func(obj runtime.Object) field.ErrorList {
		var none T
		return replace(create(obj), of(obj.(T), none))
	}
	s.ValidateUpdate = func(obj, old runtime.Object) field.ErrorList {
		return replace(update(obj, old), of(obj.(T), old.(T)))
	}
}

func replace(errs, by field.ErrorList) field.ErrorList {
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool {
		return slices.ContainsFunc(by, func(b *field.Error) bool { return b.Field == e.Field })
	})
	return append(errs, by...)
}

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

// restartOne refuses restarts of all containers, unless the old pod has one.
func restartOne(pod, old *corev1.Pod) (errs field.ErrorList) {
	if old != nil && len(restartsOfAll(&old.Spec)) > 0 {
		return nil
	}
	for _, p := range restartsOfAll(&pod.Spec) {
		errs = append(errs, field.NotSupported(p, corev1.ContainerRestartRuleActionRestartAllContainers, []corev1.ContainerRestartRuleAction{corev1.ContainerRestartRuleActionRestart}))
	}
	return errs
}

func restartsOfAll(s *corev1.PodSpec) (at []*field.Path) {
	find := func(containers []corev1.Container, p *field.Path) {
		for i, c := range containers {
			for j, r := range c.RestartPolicyRules {
				if r.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
					at = append(at, p.Index(i).Child("restartPolicyRules").Index(j).Child("action"))
				}
			}
		}
	}
	find(s.InitContainers, field.NewPath("spec", "initContainers"))
	find(s.Containers, field.NewPath("spec", "containers"))
	return at
}
