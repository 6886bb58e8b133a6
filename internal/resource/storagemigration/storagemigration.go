// Package storagemigration describes storage version migrations.
package storagemigration

import (
	migrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.ClusterScoped[migrationv1.StorageVersionMigration, migrationv1.StorageVersionMigrationList](migrationv1.SchemeGroupVersion, "storageversionmigrations").
			WithStatus().WithNoEffectWarning("no controller of this control plane migrates stored objects: the StorageVersionMigration has no effect").WithTable(table).WithStrategy(strategy()),
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
	})
	keep := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(m, old *migrationv1.StorageVersionMigration) {
		resource.RestoreMeta(m, old)
		keep(m, old)
	}
	r.Validate = func(m *migrationv1.StorageVersionMigration) field.ErrorList {
		var f check.Errors
		if m.Spec.Resource.Resource == "" {
			f.Required(check.At("spec", "resource", "resource"), "resource is required")
		}
		return f.List()
	}
	r.ValidateUpdate = func(m, old *migrationv1.StorageVersionMigration) field.ErrorList {
		var f check.Errors
		f.Same(check.At("spec", "resource"), m.Spec.Resource, old.Spec.Resource)
		return f.List()
	}
	r.RequireResourceVersion = true
	return r.Strategy()
}
