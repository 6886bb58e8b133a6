package rbac

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var bindingColumns = []metav1.TableColumnDefinition{
	resource.NameColumn,
	resource.Text("Role", "The role that is bound."),
	resource.AgeColumn,
	resource.WideOnly(resource.Text("Users", "Users who are given the role.")),
	resource.WideOnly(resource.Text("Groups", "Groups that are given the role.")),
	resource.WideOnly(resource.Text("ServiceAccounts", "Service accounts that are given the role.")),
}

var roleBindingTable = resource.TableOf(func(b *rbacv1.RoleBinding) []any {
	return bindingRow(b, b.RoleRef, b.Subjects)
}, bindingColumns...)

var clusterRoleBindingTable = resource.TableOf(func(b *rbacv1.ClusterRoleBinding) []any {
	return bindingRow(b, b.RoleRef, b.Subjects)
}, bindingColumns...)

func bindingRow(b metav1.Object, ref rbacv1.RoleRef, subjects []rbacv1.Subject) []any {
	var users, groups, accounts []string
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, s.Namespace+"/"+s.Name)
		case rbacv1.UserKind:
			users = append(users, s.Name)
		case rbacv1.GroupKind:
			groups = append(groups, s.Name)
		}
	}
	return []any{
		b.GetName(), ref.Kind + "/" + ref.Name, resource.AgeOf(b),
		strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", "),
	}
}

func defaultBinding(ref *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	if ref.APIGroup == "" {
		ref.APIGroup = rbacv1.GroupName
	}
	for i := range subjects {
		if s := &subjects[i]; s.APIGroup == "" && (s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind) {
			s.APIGroup = rbacv1.GroupName
		}
	}
}

var roleBindingStrategy = resource.Rules[*rbacv1.RoleBinding]{
	Default:  func(b *rbacv1.RoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) },
	Validate: func(b *rbacv1.RoleBinding) field.ErrorList { return validateBinding(b.RoleRef, b.Subjects, true) },
	ValidateUpdate: func(b, old *rbacv1.RoleBinding) field.ErrorList {
		return append(validateBinding(b.RoleRef, b.Subjects, true), sameRole(b.RoleRef, old.RoleRef)...)
	},
	AllowCreateOnUpdate: true,
}.Strategy()

var clusterRoleBindingStrategy = resource.Rules[*rbacv1.ClusterRoleBinding]{
	Default: func(b *rbacv1.ClusterRoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) },
	Validate: func(b *rbacv1.ClusterRoleBinding) field.ErrorList {
		return validateBinding(b.RoleRef, b.Subjects, false)
	},
	ValidateUpdate: func(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
		return append(validateBinding(b.RoleRef, b.Subjects, false), sameRole(b.RoleRef, old.RoleRef)...)
	},
	AllowCreateOnUpdate: true,
}.Strategy()

// sameRole requires a binding to keep its role: permission to bind one role was checked for that role only.
func sameRole(now, old rbacv1.RoleRef) field.ErrorList {
	if now == old {
		return nil
	}
	return field.ErrorList{field.Invalid(check.At("roleRef").Field(), now, apivalidation.FieldImmutableErrorMsg)}
}

func validateBinding(ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespaced bool) field.ErrorList {
	var f check.Errors
	p := check.At("roleRef")
	check.Known(&f, p.Child("apiGroup"), ref.APIGroup, rbacv1.GroupName)
	if namespaced {
		check.Known(&f, p.Child("kind"), ref.Kind, "Role", "ClusterRole")
	} else {
		check.Known(&f, p.Child("kind"), ref.Kind, "ClusterRole")
	}
	if ref.Name == "" {
		f.Required(p.Child("name"), "")
	} else {
		f.Each(p.Child("name"), ref.Name, content.IsPathSegmentName(ref.Name))
	}
	for i := range subjects {
		subject(&f, check.At("subjects").Index(i), &subjects[i], namespaced)
	}
	return f.List()
}

func subject(f *check.Errors, p *check.Path, s *rbacv1.Subject, namespaced bool) {
	if s.Name == "" {
		f.Required(p.Child("name"), "")
	}
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		if s.Name != "" {
			f.Each(p.Child("name"), s.Name, apivalidation.ValidateServiceAccountName(s.Name, false))
		}
		check.Known(f, p.Child("apiGroup"), s.APIGroup, "")
		if !namespaced && s.Namespace == "" {
			f.Required(p.Child("namespace"), "")
		}
	case rbacv1.UserKind, rbacv1.GroupKind:
		check.Known(f, p.Child("apiGroup"), s.APIGroup, rbacv1.GroupName)
	default:
		check.Known(f, p.Child("kind"), s.Kind, rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind)
	}
}
