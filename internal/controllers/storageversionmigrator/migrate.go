package storageversionmigrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	migrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/served"
)

// needed are the verbs that a migration uses, or a write of the object would.
var needed = []string{"update", "patch", "list"}

// grace is how long a resource that is not served is waited for: its definition may have come with the migration.
const grace = time.Minute

// find returns the migration's resource in the version that the server prefers, or nil if it has none.
func (m *migrator) find(ctx context.Context, s *migrationv1.StorageVersionMigration) (*client.APIResource, error) {
	all, err := m.client.ServerResources(ctx)
	for _, r := range served.Once(all) {
		if r.GVR.Group == s.Spec.Resource.Group && r.GVR.Resource == s.Spec.Resource.Resource {
			return &r, nil
		}
	}
	missing := client.GroupDiscoveryError(nil)
	if !errors.As(err, &missing) {
		return nil, err
	}
	for gv := range missing {
		if gv.Group == s.Spec.Resource.Group {
			return nil, err
		}
	}
	return nil, nil
}

// begin notes the revision from which on objects are in the present form.
func (m *migrator) begin(ctx context.Context, s *migrationv1.StorageVersionMigration) error {
	r, err := m.find(ctx, s)
	switch {
	case err != nil:
		return err
	case r == nil && time.Since(s.CreationTimestamp.Time) < grace:
		return fmt.Errorf("the server has no resource %s", s.Spec.Resource.String())
	case r == nil:
		return m.write(ctx, s, failed("resource does not exist in discovery"))
	case !r.Can(needed...):
		return m.write(ctx, s, failed(fmt.Sprintf("resource %q does not support discovery operations: %v", r.GVR.String(), needed)))
	}
	list, err := client.Metadata(m.client, r.GVR, r.Namespaced).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return fmt.Errorf("error getting latest resourceVersion for %s: %w", r.GVR, err)
	}
	if _, err := resourceversion.CompareResourceVersion(list.ResourceVersion, list.ResourceVersion); err != nil {
		return m.write(ctx, s, failed(fmt.Sprintf("latest resourceVersion for %s is not valid: %v", r.GVR, err)))
	}
	s = s.DeepCopy()
	s.Status.ResourceVersion = list.ResourceVersion
	_, err = m.migrations.API.UpdateStatus(ctx, s)
	return err
}

// migrate writes all objects that are older than the migration.
func (m *migrator) migrate(ctx context.Context, s *migrationv1.StorageVersionMigration) error {
	r, err := m.find(ctx, s)
	if err != nil {
		return err
	}
	if r == nil {
		return m.write(ctx, s, failed("migration encountered unhandled error: unable to obtain GVR from discovery"))
	}
	objects := client.Metadata(m.client, r.GVR, r.Namespaced).MetadataOnly()
	old, count, err := before(ctx, objects, s.Status.ResourceVersion)
	if err != nil {
		return err
	}
	kind := metav1.TypeMeta{APIVersion: r.Kind.GroupVersion().String(), Kind: r.Kind.Kind}
	for _, o := range old {
		_, err := objects.Namespace(o.Namespace).Patch(ctx, o.Name, client.MergePatch(metav1.PartialObjectMetadata{
			TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{ResourceVersion: o.ResourceVersion},
		}), metav1.PatchOptions{FieldManager: manager})
		switch {
		case err == nil, apierrors.IsConflict(err), apierrors.IsNotFound(err):
			count.left--
		case ctx.Err() != nil:
			return err
		case transient(err):
			return errors.Join(err, m.write(ctx, s, running(count, err)))
		default:
			why := fmt.Sprintf("%d/%d not yet migrated. migration encountered unhandled error: %v", count.left, count.all, err)
			return m.write(ctx, s, running(count, nil), failed(why))
		}
	}
	return m.write(ctx, s, running(count, nil), succeeded())
}

// before lists the objects of a resource that were last written before a revision, and counts them and all.
func before(ctx context.Context, objects client.Resource[*metav1.PartialObjectMetadata], revision string) (old []metav1.ObjectMeta, count progress, err error) {
	for page, err := range objects.Pages(ctx, metav1.ListOptions{Limit: 500}) {
		if err != nil {
			return nil, progress{}, err
		}
		count.all += len(page.Items)
		for _, o := range page.Items {
			later, err := resourceversion.CompareResourceVersion(o.ResourceVersion, revision)
			if err != nil {
				return nil, progress{}, err
			}
			if later <= 0 {
				old = append(old, metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, ResourceVersion: o.ResourceVersion})
			}
		}
	}
	count.left = len(old)
	return slices.Clip(old), count, nil
}

// transient reports whether a later attempt may succeed.
func transient(err error) bool {
	for _, is := range []func(error) bool{
		client.IsUnreachable, apierrors.IsServerTimeout, apierrors.IsTooManyRequests, apierrors.IsServiceUnavailable,
		apierrors.IsInternalError, apierrors.IsTimeout,
	} {
		if is(err) {
			return true
		}
	}
	return false
}
