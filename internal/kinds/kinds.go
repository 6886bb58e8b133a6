// Package kinds lists the API groups that Kubernetes serves in a stable version, with the Go types of their kinds, and those
// of the beta version with pod groups, which the scheduler reads, and ResourcePoolStatusRequests, LeaseCandidates and
// StorageVersions, which controllers read.
// It is used on both sides of the wire, which do not import each other.
package kinds

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// AddToScheme registers the kinds of all groups in s, and the options of the verbs.
func AddToScheme(s *runtime.Scheme) error {
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	b := runtime.NewSchemeBuilder(
		admissionregistrationv1.AddToScheme,
		internalv1alpha1.AddToScheme,
		apiextensionsv1.AddToScheme,
		apiregistrationv1.AddToScheme,
		appsv1.AddToScheme,
		authenticationv1.AddToScheme,
		authorizationv1.AddToScheme,
		autoscalingv1.AddToScheme,
		autoscalingv2.AddToScheme,
		batchv1.AddToScheme,
		certificatesv1.AddToScheme,
		coordinationv1.AddToScheme,
		addCandidates,
		corev1.AddToScheme,
		discoveryv1.AddToScheme,
		eventsv1.AddToScheme,
		flowcontrolv1.AddToScheme,
		networkingv1.AddToScheme,
		nodev1.AddToScheme,
		policyv1.AddToScheme,
		rbacv1.AddToScheme,
		resourcev1.AddToScheme,
		addAlphas,
		schedulingv1.AddToScheme,
		schedulingv1beta1.AddToScheme,
		storagev1.AddToScheme,
		storagemigrationv1.AddToScheme,
	)
	return b.AddToScheme(s)
}

// addCandidates registers LeaseCandidates alone: the other kinds of their version have a stable one.
func addCandidates(s *runtime.Scheme) error {
	s.AddKnownTypes(coordinationv1beta1.SchemeGroupVersion, &coordinationv1beta1.LeaseCandidate{}, &coordinationv1beta1.LeaseCandidateList{})
	metav1.AddToGroupVersion(s, coordinationv1beta1.SchemeGroupVersion)
	return nil
}

// addAlphas registers the kinds that have alpha versions alone: the other kinds of those versions have later ones.
func addAlphas(s *runtime.Scheme) error {
	s.AddKnownTypes(resourcev1alpha3.SchemeGroupVersion, &resourcev1alpha3.ResourcePoolStatusRequest{}, &resourcev1alpha3.ResourcePoolStatusRequestList{})
	metav1.AddToGroupVersion(s, resourcev1alpha3.SchemeGroupVersion)
	s.AddKnownTypes(schedulingv1alpha3.SchemeGroupVersion, &schedulingv1alpha3.CompositePodGroup{}, &schedulingv1alpha3.CompositePodGroupList{})
	metav1.AddToGroupVersion(s, schedulingv1alpha3.SchemeGroupVersion)
	return nil
}
