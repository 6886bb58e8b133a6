package storageversionmigrator

import (
	"context"
	"fmt"

	migrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/condition"
)

// definitionManager is the field manager of a definition's status.
const definitionManager = "migration-runner-controller"

// announce reports in the definition of a custom resource that its objects are being migrated.
func (m *migrator) announce(ctx context.Context, s *migrationv1.StorageVersionMigration) error {
	return m.report(ctx, s, func(d *apiextensionsv1.CustomResourceDefinition) map[string]any {
		return status(d, metav1.ConditionTrue, "MigrationRunning", fmt.Sprintf("Migration %s is running", s.Name))
	})
}

// conclude reports the end of the migration. If the definition is that of the beginning, no object is stored in
// a version other than the storage version.
func (m *migrator) conclude(ctx context.Context, s *migrationv1.StorageVersionMigration) error {
	return m.report(ctx, s, func(d *apiextensionsv1.CustomResourceDefinition) map[string]any {
		begun := condition.Find(d.Status.Conditions, func(c *apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensionsv1.StorageMigrating
		})
		same := begun != nil && begun.ObservedGeneration == d.Generation
		reason, text := "MigrationFailed", "The migration has failed"
		if has(s, migrationv1.MigrationSucceeded) {
			reason, text = "MigrationSucceeded", "The migration has succeeded but the stored versions have not been updated due to a generation mismatch"
			if same {
				text = "The migration has succeeded and the stored versions have been updated"
			}
		}
		concluded := status(d, metav1.ConditionFalse, reason, text)
		if v := condition.Find(d.Spec.Versions, func(v *apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage }); v != nil &&
			same && has(s, migrationv1.MigrationSucceeded) {
			concluded["storedVersions"] = []string{v.Name}
		}
		return concluded
	})
}

// report applies a status to the definition of a migration's resource, if it has one.
func (m *migrator) report(ctx context.Context, s *migrationv1.StorageVersionMigration, status func(*apiextensionsv1.CustomResourceDefinition) map[string]any) error {
	err := client.RetryOnConflict(ctx, func() error {
		d, err := m.definitions.Get(ctx, s.Spec.Resource.Resource+"."+s.Spec.Resource.Group)
		if err != nil {
			return err
		}
		_, err = m.definitions.Patch(ctx, d.Name, client.ApplyPatch(map[string]any{
			"apiVersion": apiextensionsv1.SchemeGroupVersion.String(), "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": d.Name, "resourceVersion": d.ResourceVersion},
			"status":   status(d),
		}).On("status"), metav1.PatchOptions{FieldManager: definitionManager, Force: new(true)})
		return err
	})
	return client.IgnoreNotFound(err)
}

func status(d *apiextensionsv1.CustomResourceDefinition, is metav1.ConditionStatus, reason, text string) map[string]any {
	return map[string]any{"conditions": []map[string]any{{
		"type": apiextensionsv1.StorageMigrating, "status": is, "reason": reason, "message": text,
		"lastTransitionTime": metav1.Now(), "observedGeneration": d.Generation,
	}}}
}
