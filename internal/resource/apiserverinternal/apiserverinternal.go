// Package apiserverinternal describes storage versions, in which the API servers of a cluster report the versions that they
// store.
package apiserverinternal

import (
	"fmt"
	"strings"

	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.ClusterScoped[internalv1alpha1.StorageVersion, internalv1alpha1.StorageVersionList](internalv1alpha1.SchemeGroupVersion, "storageversions").OnRequest().
			WithNameRule(name).WithStatus().WithTable(table).WithStrategy(strategy()),
	}
}

// shown is the number of servers in a table.
const shown = 3

var table = resource.TableOf(func(v *internalv1alpha1.StorageVersion) []any {
	var servers []string
	for _, s := range v.Status.StorageVersions {
		servers = append(servers, s.APIServerID+"="+s.EncodingVersion)
	}
	list := strings.Join(servers[:min(shown, len(servers))], ",")
	if more := len(servers) - shown; more > 0 {
		list += fmt.Sprintf(" + %d more...", more)
	}
	return []any{v.Name, ptr.Deref(v.Status.CommonEncodingVersion, "<unset>"), list, resource.AgeOf(v)}
},
	resource.NameColumn,
	resource.Text("CommonEncodingVersion", "The version that all servers store."),
	resource.Text("StorageVersions", "The versions that the servers store."),
	resource.AgeColumn,
)

func strategy() resource.Strategy {
	r := resource.SpecAndStatus(func(v *internalv1alpha1.StorageVersion) (*internalv1alpha1.StorageVersionSpec, *internalv1alpha1.StorageVersionStatus) {
		return &v.Spec, &v.Status
	}).KeepMeta()
	r.Validate = func(v *internalv1alpha1.StorageVersion) field.ErrorList { return nil }
	r.ValidateUpdate = func(v, old *internalv1alpha1.StorageVersion) field.ErrorList { return nil }
	r.ValidateStatusUpdate = func(v, old *internalv1alpha1.StorageVersion) field.ErrorList { return validate(&v.Status) }
	r.RequireResourceVersion = true
	return r.Strategy()
}

// name requires a group, a dot and a resource.
func name(name string, _ bool) (messages []string) {
	dot := strings.LastIndex(name, ".")
	if dot < 0 {
		return []string{"name must be in the form of <group>.<resource>"}
	}
	for _, m := range validation.IsDNS1123Subdomain(name[:dot]) {
		messages = append(messages, "the group segment "+m)
	}
	for _, m := range validation.IsDNS1035Label(name[dot+1:]) {
		messages = append(messages, "the resource segment "+m)
	}
	return messages
}
