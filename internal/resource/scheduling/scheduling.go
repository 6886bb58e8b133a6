// Package scheduling describes priority classes, and the workloads and pod groups of the feature gates
// GenericWorkload and CompositePodGroup.
package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.ClusterScoped[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](schedulingv1.SchemeGroupVersion, "priorityclasses").
			WithShortNames("pc").WithTable(classTable).WithStrategy(classStrategy),
		resource.NamespaceScoped[schedulingv1alpha3.CompositePodGroup, schedulingv1alpha3.CompositePodGroupList](schedulingv1alpha3.SchemeGroupVersion, "compositepodgroups").OnRequest().
			WithStatus().WithTable(compositeTable).WithStrategy(compositeStrategy()),
		resource.NamespaceScoped[schedulingv1beta1.PodGroup, schedulingv1beta1.PodGroupList](schedulingv1beta1.SchemeGroupVersion, "podgroups").OnRequest().
			WithStatus().WithTable(groupTable).WithStrategy(groupStrategy()).
			WithVersionOnRequest(resource.VersionOf[schedulingv1alpha3.PodGroup, schedulingv1alpha3.PodGroupList]("v1alpha3"), nil, nil),
		resource.NamespaceScoped[schedulingv1beta1.Workload, schedulingv1beta1.WorkloadList](schedulingv1beta1.SchemeGroupVersion, "workloads").OnRequest().
			WithTable(workloadTable).WithStrategy(workloadStrategy).
			WithVersionOnRequest(resource.VersionOf[schedulingv1alpha3.Workload, schedulingv1alpha3.WorkloadList]("v1alpha3"), nil, nil),
	}
}

var classTable = resource.TableOf(func(c *schedulingv1.PriorityClass) []any {
	return []any{c.Name, int64(c.Value), c.GlobalDefault, resource.AgeOf(c), string(ptr.Deref(c.PreemptionPolicy, ""))}
},
	resource.NameColumn,
	resource.Integer("Value", "The priority of the class's pods."),
	resource.Boolean("Global-Default", "Whether pods without a class are of this one."),
	resource.AgeColumn,
	resource.Text("PreemptionPolicy", "Whether the class's pods push others aside."),
)

var classStrategy = resource.Rules[*schedulingv1.PriorityClass]{
	Default: func(c *schedulingv1.PriorityClass) {
		resource.SetDefault(&c.PreemptionPolicy, corev1.PreemptLowerPriority)
	},
	PrepareForCreate: func(c *schedulingv1.PriorityClass) { c.Generation = 1 },
	Validate:         validateClass,
	ValidateUpdate: func(c, old *schedulingv1.PriorityClass) field.ErrorList {
		var f check.Errors
		if c.Value != old.Value {
			f.Forbidden(check.At("value"), "may not be changed in an update.")
		}
		f.Same(check.At("preemptionPolicy"), c.PreemptionPolicy, old.PreemptionPolicy)
		return f.List()
	},
}.Strategy()

const (
	systemPrefix = "system-"
	maxUser      = 1_000_000_000
)

// systemClasses are the classes above those of users, by name and value.
var systemClasses = map[string]int32{
	"system-node-critical":    2*maxUser + 1000,
	"system-cluster-critical": 2 * maxUser,
}

func validateClass(c *schedulingv1.PriorityClass) field.ErrorList {
	var f check.Errors
	if strings.HasPrefix(c.Name, systemPrefix) {
		value, known := systemClasses[c.Name]
		why := ""
		switch {
		case !known:
			why = fmt.Sprintf("%v is not a known system priority class", c.Name)
		case value != c.Value:
			why = fmt.Sprintf("value of %v PriorityClass must be %v", c.Name, value)
		case c.GlobalDefault:
			why = fmt.Sprintf("globalDefault of %v PriorityClass must be %v", c.Name, false)
		}
		if why != "" {
			f.Forbidden(check.At("metadata", "name"), "priority class names with '"+systemPrefix+"' prefix are reserved for system use only. error: "+why)
		}
	} else if c.Value > maxUser {
		f.Forbidden(check.At("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %d", maxUser))
	}
	if c.PreemptionPolicy != nil {
		check.OneOf(&f, check.At("preemptionPolicy"), *c.PreemptionPolicy, corev1.PreemptLowerPriority, corev1.PreemptNever)
	}
	return f.List()
}
