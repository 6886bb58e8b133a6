package deployment

import (
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cleanup deletes old sets beyond the history limit, lowest revisions first. A set that has or should have pods, or
// whose status is behind its spec, is kept although it counts.
func (p *pass) cleanup() error {
	for _, rs := range expendable(p.d, p.old) {
		err := p.c.sets.API.Namespace(rs.Namespace).Delete(p.ctx, rs.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &rs.UID},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func expendable(d *appsv1.Deployment, old []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	limit := d.Spec.RevisionHistoryLimit
	if limit == nil || *limit == math.MaxInt32 {
		return nil
	}
	alive := slices.DeleteFunc(slices.Clone(old), func(rs *appsv1.ReplicaSet) bool { return rs.DeletionTimestamp != nil })
	surplus := len(alive) - int(*limit)
	if surplus <= 0 {
		return nil
	}
	slices.SortFunc(alive, byRevision)
	return slices.DeleteFunc(alive[:surplus], func(rs *appsv1.ReplicaSet) bool {
		return existing(rs) != 0 || size(rs) != 0 || rs.Generation > rs.Status.ObservedGeneration
	})
}
