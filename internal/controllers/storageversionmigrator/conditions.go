package storageversionmigrator

import (
	"context"
	"fmt"

	migrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// has reports whether a condition is true.
func has(s *migrationv1.StorageVersionMigration, t migrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(s.Status.Conditions, string(t))
}

// progress counts the objects of a migration.
type progress struct{ left, all int }

// running is the condition of a migration that runs; err is the reason for which it is tried again, or nil.
func running(p progress, err error) metav1.Condition {
	text := "The migration is running"
	switch {
	case p.left > 0:
		text += fmt.Sprintf(", %d/%d objects not yet migrated", p.left, p.all)
	case p.all > 0:
		text += fmt.Sprintf(", %d objects verified migrated", p.all)
	}
	if err != nil {
		text += "; transient error: " + err.Error()
	}
	return metav1.Condition{Type: string(migrationv1.MigrationRunning), Status: metav1.ConditionTrue, Reason: "MigrationRunning", Message: text}
}

func stopped(s *migrationv1.StorageVersionMigration) metav1.Condition {
	return metav1.Condition{
		Type: string(migrationv1.MigrationRunning), Status: metav1.ConditionFalse,
		Reason: "MigrationCompleted", Message: "Migration completed", ObservedGeneration: s.Generation,
	}
}

func succeeded() metav1.Condition {
	return metav1.Condition{
		Type: string(migrationv1.MigrationSucceeded), Status: metav1.ConditionTrue,
		Reason: "StorageVersionMigrationSucceeded", Message: "Migration completed",
	}
}

func failed(why string) metav1.Condition {
	return metav1.Condition{
		Type: string(migrationv1.MigrationFailed), Status: metav1.ConditionTrue, Reason: "StorageVersionMigrationFailed", Message: why,
	}
}

// write writes conditions into a migration's status, if they change it.
func (m *migrator) write(ctx context.Context, s *migrationv1.StorageVersionMigration, conditions ...metav1.Condition) error {
	s = s.DeepCopy()
	changed := false
	for _, c := range conditions {
		changed = meta.SetStatusCondition(&s.Status.Conditions, c) || changed
	}
	if !changed {
		return nil
	}
	_, err := m.migrations.API.UpdateStatus(ctx, s)
	return err
}
