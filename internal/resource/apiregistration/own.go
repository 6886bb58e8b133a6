package apiregistration

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// ManagedLabel marks the API services that the server manages; its value is OnStart or Always.
const ManagedLabel = "kube-aggregator.kubernetes.io/automanaged"

const (
	// OnStart is for built-in versions: the API service is created and restored when the server starts, and then
	// left alone.
	OnStart = "onstart"
	// Always is for versions of definitions: the API service exists as long as they do.
	Always = "true"
)

// Name is that of a version's API service.
func Name(gv schema.GroupVersion) string { return gv.Version + "." + gv.Group }

// Own is the API service of a version that the server serves itself.
func Own(gv schema.GroupVersion, managed string) *apiregistrationv1.APIService {
	p := PriorityOf(gv)
	return &apiregistrationv1.APIService{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiregistrationv1.SchemeGroupVersion.String(), Kind: "APIService"},
		ObjectMeta: metav1.ObjectMeta{Name: Name(gv), Labels: map[string]string{ManagedLabel: managed}},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: gv.Group, Version: gv.Version, GroupPriorityMinimum: p.Group, VersionPriority: p.Version,
		},
	}
}

// Managed reports whether the server manages the API service.
func Managed(s *apiregistrationv1.APIService) bool {
	return s.Labels[ManagedLabel] == OnStart || s.Labels[ManagedLabel] == Always
}
