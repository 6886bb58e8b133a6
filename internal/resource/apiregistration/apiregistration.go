// Package apiregistration describes API services: which server serves a version of a
// group, this one or another behind it.
package apiregistration

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.ClusterScoped[apiregistrationv1.APIService, apiregistrationv1.APIServiceList](apiregistrationv1.SchemeGroupVersion, "apiservices").
			WithStoragePrefix("/registry/apiregistration.k8s.io/apiservices").
			WithNameRule(resource.PathSegmentName).WithStatus().WithCategories("api-extensions").WithTable(table).WithStrategy(strategy),
	}
}

var table = resource.TableOf(func(s *apiregistrationv1.APIService) []any {
	where := "Local"
	if to := s.Spec.Service; to != nil {
		where = to.Namespace + "/" + to.Name
	}
	available := string(apiregistrationv1.ConditionUnknown)
	if c := Condition(s); c != nil {
		available = string(c.Status)
		if c.Status != apiregistrationv1.ConditionTrue && c.Reason != "" {
			available = fmt.Sprintf("%s (%s)", c.Status, c.Reason)
		}
	}
	return []any{s.Name, where, available, resource.AgeOf(s)}
},
	resource.NameColumn,
	resource.Text("Service", "The service of the server, or Local if it is this one."),
	resource.Text("Available", "Whether the server can be reached, and why not."),
	resource.AgeColumn,
)

var strategy = resource.Rules[*apiregistrationv1.APIService]{
	Default: func(s *apiregistrationv1.APIService) {
		if to := s.Spec.Service; to != nil && to.Port == nil {
			to.Port = ptr.To[int32](443)
		}
	},
	PrepareForCreate: func(s *apiregistrationv1.APIService) {
		s.Status = apiregistrationv1.APIServiceStatus{}
		if s.Spec.Service == nil {
			SetCondition(s, Local())
		}
	},
	PrepareForUpdate: func(s, old *apiregistrationv1.APIService) { s.Status = old.Status },
	PrepareForStatusUpdate: func(s, old *apiregistrationv1.APIService) {
		s.Spec = old.Spec
		s.Labels, s.Annotations = old.Labels, old.Annotations
		s.Finalizers, s.OwnerReferences = old.Finalizers, old.OwnerReferences
	},
	Validate:               validate,
	ValidateUpdate:         validateUpdate,
	ValidateStatusUpdate:   validateStatus,
	RequireResourceVersion: true,
}.Strategy()

// Condition returns the Available condition, nil if the server has not been checked yet.
func Condition(s *apiregistrationv1.APIService) *apiregistrationv1.APIServiceCondition {
	return condition.Find(s.Status.Conditions, func(c *apiregistrationv1.APIServiceCondition) bool { return c.Type == apiregistrationv1.Available })
}

// SetCondition sets the condition of its type, and reports whether that changes the object. The transition time
// becomes the present if the status differs.
func SetCondition(s *apiregistrationv1.APIService, now apiregistrationv1.APIServiceCondition) (changed bool) {
	now.Type, now.LastTransitionTime = apiregistrationv1.Available, metav1.Now()
	was := Condition(s)
	if was == nil {
		s.Status.Conditions = append(s.Status.Conditions, now)
		return true
	}
	if was.Status == now.Status {
		now.LastTransitionTime = was.LastTransitionTime
	}
	changed = *was != now
	*was = now
	return changed
}

// Local returns the condition of an API service that this server serves itself.
func Local() apiregistrationv1.APIServiceCondition {
	return apiregistrationv1.APIServiceCondition{
		Status: apiregistrationv1.ConditionTrue, Reason: "Local", Message: "Local APIServices are always available",
	}
}
