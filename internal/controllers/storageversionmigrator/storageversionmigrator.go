package storageversionmigrator

import (
	"cmp"
	"context"

	migrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// manager is the field manager of the writes.
const manager = "storage-version-migrator-controller"

type migrator struct {
	client      *client.Client
	migrations  controller.Objects[*migrationv1.StorageVersionMigration]
	definitions client.Resource[*apiextensionsv1.CustomResourceDefinition]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	m := &migrator{
		env.Client, controller.ObjectsOf[*migrationv1.StorageVersionMigration](env),
		client.For[*apiextensionsv1.CustomResourceDefinition](env.Client),
	}
	return controller.New("storageversionmigrator", m.reconcile, controller.Options{Workers: 5}).Watch(
		controller.Watches(m.migrations, resourceOf))
}

// resourceOf returns the key of a migration's resource: its group, in place of a namespace, and its name.
func resourceOf(s *migrationv1.StorageVersionMigration) []controller.Key {
	return []controller.Key{{Namespace: s.Spec.Resource.Group, Name: s.Spec.Resource.Resource}}
}

// reconcile takes the migrations of a resource one step further. The write of each step causes the next call.
func (m *migrator) reconcile(ctx context.Context, resource controller.Key) (controller.Result, error) {
	var running, next *migrationv1.StorageVersionMigration
	for _, s := range m.migrations.Store().List("") {
		isRunning, ended := has(s, migrationv1.MigrationRunning), has(s, migrationv1.MigrationSucceeded) || has(s, migrationv1.MigrationFailed)
		switch {
		case resourceOf(s)[0] != resource:
		case isRunning && ended:
			if err := m.finish(ctx, s); err != nil {
				return controller.Result{}, client.IgnoreNotFound(err)
			}
		case isRunning:
			running = s
		case !ended && (next == nil || older(s, next)):
			next = s
		}
	}
	var err error
	switch {
	case running != nil && running.Status.ResourceVersion == "":
		err = m.begin(ctx, running)
	case running != nil:
		err = m.migrate(ctx, running)
	case next != nil:
		err = m.promote(ctx, next)
	}
	return controller.Result{}, client.IgnoreNotFound(err) // a migration that was deleted is an event
}

func older(a, b *migrationv1.StorageVersionMigration) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

// promote makes a migration the one that runs.
func (m *migrator) promote(ctx context.Context, s *migrationv1.StorageVersionMigration) error {
	if err := m.announce(ctx, s); err != nil {
		return err
	}
	return m.write(ctx, s, running(progress{}, nil))
}

// finish ends the running of a migration with an outcome.
func (m *migrator) finish(ctx context.Context, s *migrationv1.StorageVersionMigration) error {
	if err := m.conclude(ctx, s); err != nil {
		return err
	}
	return m.write(ctx, s, stopped(s))
}
