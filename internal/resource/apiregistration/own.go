package apiregistration

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// ManagedLabel marks the API services that the server keeps for itself; its value says
// when it does so.
const ManagedLabel = "kube-aggregator.kubernetes.io/automanaged"

const (
	// OnStart is for what is built in: it is made and put right when the server starts,
	// and then left alone.
	OnStart = "onstart"
	// Always is for what definitions define: it is there as long as they are.
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

// Managed says whether the server keeps the API service.
func Managed(s *apiregistrationv1.APIService) bool {
	return s.Labels[ManagedLabel] == OnStart || s.Labels[ManagedLabel] == Always
}
