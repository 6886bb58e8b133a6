// Package rbac describes roles and their bindings.
package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table. Names are looser than elsewhere:
// whatever can stand in a URL.
func Resources() []*resource.Resource {
	gv := rbacv1.SchemeGroupVersion
	name := resource.PathSegmentName
	return []*resource.Resource{
		resource.ClusterScoped[rbacv1.ClusterRoleBinding, rbacv1.ClusterRoleBindingList](gv, "clusterrolebindings").
			WithNameRule(name).WithTable(clusterRoleBindingTable).WithStrategy(clusterRoleBindingStrategy),
		resource.ClusterScoped[rbacv1.ClusterRole, rbacv1.ClusterRoleList](gv, "clusterroles").
			WithNameRule(name).WithTable(clusterRoleTable).WithStrategy(clusterRoleStrategy),
		resource.NamespaceScoped[rbacv1.RoleBinding, rbacv1.RoleBindingList](gv, "rolebindings").
			WithNameRule(name).WithTable(roleBindingTable).WithStrategy(roleBindingStrategy),
		resource.NamespaceScoped[rbacv1.Role, rbacv1.RoleList](gv, "roles").
			WithNameRule(name).WithTable(roleTable).WithStrategy(roleStrategy),
	}
}
