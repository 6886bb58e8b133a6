package deployment

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// rollbackRequested reads the annotation in which removed API versions request a rollback to a revision, zero for the
// previous one. A paused Deployment ignores it.
func (p *pass) rollbackRequested() (revision int64, asked bool) {
	if p.d.DeletionTimestamp != nil || p.d.Spec.Paused {
		return 0, false
	}
	return rollbackTo(p.d)
}

func rollbackTo(d *appsv1.Deployment) (revision int64, asked bool) {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedRollbackTo], 10, 64)
	return n, err == nil
}

// rollBack gives the Deployment the template and the annotations of a revision, removes the request, and records
// the result in an event. The next pass does the rest.
func (p *pass) rollBack(to int64) error {
	if err := p.syncNew(); err != nil {
		return err
	}
	if err := p.ensureNew(); err != nil {
		return err
	}
	all := p.every()
	if to == 0 {
		if to = lastRevision(all); to == 0 {
			return p.giveUp("DeploymentRollbackRevisionNotFound", "Unable to find last revision.")
		}
	}
	i := slices.IndexFunc(all, func(rs *appsv1.ReplicaSet) bool { return revision(rs) == to })
	if i < 0 {
		return p.giveUp("DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.")
	}
	if sameTemplate(&all[i].Spec.Template, &p.d.Spec.Template) {
		return p.giveUp("DeploymentRollbackTemplateUnchanged", "The rollback revision contains the same template as current deployment %q", p.d.Name)
	}
	p.d.Spec.Template = *all[i].Spec.Template.DeepCopy()
	p.d.Spec.Template.Labels = withoutHash(p.d.Spec.Template.Labels)
	takeAnnotations(p.d, all[i])
	if err := p.clearRollback(); err != nil {
		return err
	}
	p.event(corev1.EventTypeNormal, "DeploymentRollback", "Rolled back deployment %q to revision %d", p.d.Name, to)
	return nil
}

// giveUp records why there is no rollback, and removes the request.
func (p *pass) giveUp(reason, format string, args ...any) error {
	p.event(corev1.EventTypeWarning, reason, format, args...)
	return p.clearRollback()
}

func (p *pass) clearRollback() error {
	delete(p.d.Annotations, appsv1.DeprecatedRollbackTo)
	_, err := p.c.all.API.Namespace(p.d.Namespace).Update(p.ctx, p.d)
	return err
}

// takeAnnotations is the reverse of annotate: the Deployment's private annotations are kept, all others become
// those that the set inherited.
func takeAnnotations(d *appsv1.Deployment, rs *appsv1.ReplicaSet) {
	all := make(map[string]string, len(rs.Annotations))
	for k, v := range d.Annotations {
		if slices.Contains(private, k) {
			all[k] = v
		}
	}
	for k, v := range rs.Annotations {
		if !slices.Contains(private, k) {
			all[k] = v
		}
	}
	d.Annotations = all
}

// lastRevision returns the second highest revision among the sets; zero if there are fewer than two.
func lastRevision(sets []*appsv1.ReplicaSet) int64 {
	highest, second := int64(0), int64(0)
	for _, rs := range sets {
		switch n := revision(rs); {
		case n >= highest:
			highest, second = n, highest
		case n > second:
			second = n
		}
	}
	return second
}
