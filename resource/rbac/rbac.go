// Package rbac describes roles and their bindings.
package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := rbacv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.InCluster[rbacv1.ClusterRoleBinding, rbacv1.ClusterRoleBindingList](gv, "clusterrolebindings"),
		resource.InCluster[rbacv1.ClusterRole, rbacv1.ClusterRoleList](gv, "clusterroles"),
		resource.InNamespace[rbacv1.RoleBinding, rbacv1.RoleBindingList](gv, "rolebindings"),
		resource.InNamespace[rbacv1.Role, rbacv1.RoleList](gv, "roles"),
	}
}
