package gates

import (
	"slices"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/admissionregistration"
	"fairlead.dev/internal/resource/coordination"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A rule changes a resource if its gate is off.
type rule struct {
	gate  string
	of    schema.GroupResource // the zero value stands for all
	apply func(*resource.Resource)
}

var rules = slices.Concat(seLinuxRules(), otherRules, staticRules(), laterRules)

// laterRules are those of the gates that are off by default in all versions.
var laterRules = []rule{
	{"CoordinatedLeaderElection", coordinationv1.Resource("leases"), coordination.WithoutElections},
	{"WorkloadWithJob", batchv1.Resource("jobs"), func(r *resource.Resource) { check(r, keptScheduling) }},
	{"WorkloadWithJob", batchv1.Resource("cronjobs"), func(r *resource.Resource) { check(r, keptCronScheduling) }},
	{"PodGroupPreemptionPolicy", schedulingv1beta1.Resource("podgroups"), func(r *resource.Resource) { withoutDefault(r, groupPolicy) }},
	{"PodGroupPreemptionPolicy", schedulingv1beta1.Resource("compositepodgroups"), func(r *resource.Resource) { withoutDefault(r, compositePolicy) }},
}

var otherRules = []rule{
	{"RelaxedServiceNameValidation", corev1.Resource("services"), func(r *resource.Resource) { r.Name = apivalidation.NameIsDNS1035Label }},
	{"RelaxedServiceNameValidation", networkingv1.Resource("ingresses"), func(r *resource.Resource) { check(r, backendNames) }},
	{"PreferSameTrafficDistribution", corev1.Resource("services"), func(r *resource.Resource) { check(r, preferClose) }},
	{"RestartAllContainersOnContainerExits", corev1.Resource("pods"), func(r *resource.Resource) { check(r, restartOne) }},
	{"InPlacePodVerticalScalingInitContainers", corev1.Resource("pods"), func(r *resource.Resource) { checkResize(r, sameInit) }},
	{"InPlacePodLevelResourcesVerticalScaling", corev1.Resource("pods"), func(r *resource.Resource) { checkResize(r, noPodResources) }},
	{"MatchLabelKeysInPodTopologySpreadSelectorMerge", corev1.Resource("pods"), keepSpreadSelectors},
	{"PodLevelResourcesFixDefaulting", corev1.Resource("pods"), completeAsSent},
	{"MutablePodResourcesForSuspendedJobs", batchv1.Resource("jobs"), func(r *resource.Resource) { check(r, sameResources) }},
	{"MutableSchedulingDirectivesForSuspendedJobs", batchv1.Resource("jobs"), func(r *resource.Resource) { check(r, sameSinceStart) }},
	{"StrictIPCIDRValidation", schema.GroupResource{}, takeOldAddresses},
	{"HPAScaleToZero", autoscalingv2.Resource("horizontalpodautoscalers"), func(r *resource.Resource) { check(r, oneReplica) }},
	{"HPAGeneration", autoscalingv2.Resource("horizontalpodautoscalers"), keepGeneration},
	{"MaxUnavailableStatefulSet", appsv1.Resource("statefulsets"), func(r *resource.Resource) { withoutDefault(r, maxUnavailable) }},
	{"VolumeLimitScaling", storagev1.Resource("csidrivers"), func(r *resource.Resource) { withoutDefault(r, preventScheduling) }},
	{"ExcludeAdmissionWebhookVirtualResources", admissionv1.Resource("mutatingwebhookconfigurations"), withoutWarnings},
	{"ExcludeAdmissionWebhookVirtualResources", admissionv1.Resource("validatingwebhookconfigurations"), withoutWarnings},
	{"CSIServiceAccountTokenSecrets", storagev1.Resource("csidrivers"), withoutWarnings}, // which advise to use the field
}

// staticRules come after those that remove warnings.
func staticRules() (all []rule) {
	for _, plural := range []string{
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations",
		"validatingadmissionpolicies", "validatingadmissionpolicybindings", "validatingwebhookconfigurations",
	} {
		all = append(all, rule{"ManifestBasedAdmissionControlConfig", admissionv1.Resource(plural), admissionregistration.WarnOfStatic})
	}
	return all
}

func withoutWarnings(r *resource.Resource) { r.Strategy.Warnings, r.Strategy.UpdateWarnings = nil, nil }

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
