// Package storagemigration describes storage version migrations.
package storagemigration

import (
	migrationv1 "k8s.io/api/storagemigration/v1"
	migrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.ClusterScoped[migrationv1.StorageVersionMigration, migrationv1.StorageVersionMigrationList](migrationv1.SchemeGroupVersion, "storageversionmigrations").
			WithStatus().WithTable(table).WithStrategy(strategy()).
			WithVersionOnRequest(resource.VersionOf[migrationv1beta1.StorageVersionMigration, migrationv1beta1.StorageVersionMigrationList]("v1beta1"), nil, nil),
	}
}

var table = resource.TableOf(func(m *migrationv1.StorageVersionMigration) []any {
	status := "Unknown"
	for _, c := range m.Status.Conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch migrationv1.MigrationConditionType(c.Type) {
		case migrationv1.MigrationRunning, migrationv1.MigrationFailed, migrationv1.MigrationSucceeded:
			status = c.Type
		}
	}
	return []any{m.Name, m.Spec.Resource.String(), status}
},
	resource.Text("Name", "The migration's name."),
	resource.Text("Resource", "What is migrated."),
	resource.Text("Status", "How far the migration is."),
)

func strategy() resource.Strategy {
	r := resource.SpecAndStatus(func(m *migrationv1.StorageVersionMigration) (*migrationv1.StorageVersionMigrationSpec, *migrationv1.StorageVersionMigrationStatus) {
		return &m.Spec, &m.Status
	}).KeepMeta()
	r.Validate = validate
	r.ValidateUpdate = func(m, old *migrationv1.StorageVersionMigration) field.ErrorList {
		var f check.Errors
		f.Add(validate(m)...)
		f.Same(check.At("spec"), internalSpec(m.Spec), internalSpec(old.Spec))
		return f.List()
	}
	r.ValidateStatusUpdate = validateStatusUpdate
	r.RequireResourceVersion = true
	return r.Strategy()
}

// internalSpec is a spec as kube-apiserver's messages show it: its internal types have no names for JSON.
type internalSpec struct{ Resource metav1.GroupResource }

func validate(m *migrationv1.StorageVersionMigration) field.ErrorList {
	var f check.Errors
	p := check.At("spec", "resource")
	if name := m.Spec.Resource.Resource; name == "" {
		f.Required(p.Child("resource"), "resource is required to be set")
	} else {
		f.Each(p.Child("resource"), name, validation.IsDNS1035Label(name))
	}
	if group := m.Spec.Resource.Group; group != "" {
		f.Subdomain(p.Child("group"), group)
	}
	return f.List()
}

// validateStatusUpdate holds a migration to one resource version and one outcome.
func validateStatusUpdate(m, old *migrationv1.StorageVersionMigration) field.ErrorList {
	var f check.Errors
	at, conditions := check.At("status", "resourceVersion"), check.At("status", "conditions")
	if v := m.Status.ResourceVersion; v != "" {
		if _, err := resourceversion.CompareResourceVersion(v, v); err != nil {
			f.Invalid(at, v, err.Error())
		}
	}
	f.Add(metavalidation.ValidateConditions(m.Status.Conditions, conditions.Field())...)
	if old.Status.ResourceVersion != "" {
		f.Same(at, m.Status.ResourceVersion, old.Status.ResourceVersion)
	}
	if has(m, migrationv1.MigrationSucceeded) && has(m, migrationv1.MigrationFailed) {
		f.Invalid(conditions, m.Status.Conditions, "Both success and failed conditions cannot be true at the same time")
	}
	if has(old, migrationv1.MigrationSucceeded) && !has(m, migrationv1.MigrationSucceeded) {
		f.Invalid(conditions, m.Status.Conditions, "Success condition cannot be set to false once it is true")
	}
	if has(old, migrationv1.MigrationFailed) && !has(m, migrationv1.MigrationFailed) {
		f.Invalid(conditions, m.Status.Conditions, "Failed condition cannot be set to false once it is true")
	}
	return f.List()
}

// has reports whether the condition is true.
func has(m *migrationv1.StorageVersionMigration, condition migrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, string(condition))
}
