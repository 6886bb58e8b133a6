package deployment

import (
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controllers/podcontrol"
)

// syncNew updates the new set, if it exists, to the Deployment's fields beside the template, and the Deployment's
// revision to the set's.
func (p *pass) syncNew() error {
	if p.new == nil {
		return nil
	}
	changed := p.new.DeepCopy()
	annotated := annotate(p.d, changed, nextRevision(p.old))
	if annotated || changed.Spec.MinReadySeconds != p.d.Spec.MinReadySeconds {
		changed.Spec.MinReadySeconds = p.d.Spec.MinReadySeconds
		written, err := p.c.sets.API.Namespace(p.d.Namespace).Update(p.ctx, changed)
		if err != nil {
			return err
		}
		p.new = written
	}
	if hasDeadline(p.d) && deploymentCondition(&p.d.Status, appsv1.DeploymentProgressing) == nil {
		setCondition(&p.d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue,
			reasonFoundSet, fmt.Sprintf("Found new replica set %q", p.new.Name)))
	}
	p.setRevision(p.new.Annotations[revisionAnnotation])
	return nil
}

// setRevision sets the revision of the Deployment. It is written with the status, which for Deployments includes
// annotations.
func (p *pass) setRevision(revision string) {
	if p.d.Annotations[revisionAnnotation] == revision {
		return
	}
	metav1.SetMetaDataAnnotation(&p.d.ObjectMeta, revisionAnnotation, revision)
	p.revised = true
}

// ensureNew creates the set for the Deployment's template if it is missing.
func (p *pass) ensureNew() error {
	if p.new != nil {
		return nil
	}
	hash, err := templateHash(&p.d.Spec.Template, p.d.Status.CollisionCount)
	if err != nil {
		return err
	}
	revision := nextRevision(p.old)
	wanted := p.buildSet(hash)
	annotate(p.d, wanted, revision)
	recordDesired(wanted, replicasOf(p.d), replicasOf(p.d)+maxSurge(p.d))

	made, err := p.c.sets.API.Namespace(p.d.Namespace).Create(p.ctx, wanted)
	switch {
	case apierrors.IsAlreadyExists(err):
		return p.meetNamesake(wanted.Name, revision)
	case podcontrol.NamespaceGoing(err):
		return err
	case err != nil:
		return p.reportCreateError(wanted.Name, err)
	}
	p.new = made
	if size(made) > 0 {
		p.event(corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled up replica set %s from 0 to %d", made.Name, size(made))
	}
	if hasDeadline(p.d) {
		setCondition(&p.d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue,
			reasonNewSet, fmt.Sprintf("Created new replica set %q", made.Name)))
	}
	p.setRevision(strconv.FormatInt(revision, 10))
	return nil
}

// buildSet returns the set for the Deployment's template, at the initial size that the strategy allows.
func (p *pass) buildSet(hash string) *appsv1.ReplicaSet {
	d := p.d
	template := *d.Spec.Template.DeepCopy()
	template.Labels = withLabel(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	selector := d.Spec.Selector.DeepCopy()
	selector.MatchLabels = withLabel(selector.MatchLabels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name:            setName(d.Name, hash),
			Namespace:       d.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, kind)},
			Labels:          maps.Clone(template.Labels),
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas:        new(int32),
			MinReadySeconds: d.Spec.MinReadySeconds,
			Selector:        selector,
			Template:        template,
		},
	}
	*rs.Spec.Replicas = newSetSize(d, append(p.every(), rs), rs)
	return rs
}

// meetNamesake handles an existing set with the new one's name: either it is the new one, which the cache lacks, or
// its template has the same hash by chance, and then the next pass tries another.
func (p *pass) meetNamesake(name string, revision int64) error {
	rs, err := p.c.sets.API.Namespace(p.d.Namespace).Get(p.ctx, name)
	if err != nil {
		return err
	}
	if metav1.IsControlledBy(rs, p.d) && sameTemplate(&rs.Spec.Template, &p.d.Spec.Template) {
		p.new = rs
		p.setRevision(strconv.FormatInt(revision, 10))
		return nil
	}
	count := int32(1)
	if p.d.Status.CollisionCount != nil {
		count = *p.d.Status.CollisionCount + 1
	}
	p.d.Status.CollisionCount = &count
	if _, err := p.c.all.API.Namespace(p.d.Namespace).UpdateStatus(p.ctx, p.d); err != nil {
		return err
	}
	return fmt.Errorf("hash collision on replica set %q, collision count is now %d", name, count)
}

// reportCreateError records in condition and event why there is no new set, and returns the error.
func (p *pass) reportCreateError(name string, cause error) error {
	msg := fmt.Sprintf("Failed to create new replica set %q: %v", name, cause)
	if hasDeadline(p.d) {
		setCondition(&p.d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, reasonCreateFailed, msg))
		// The creation error is the one to return; if this write fails too, the
		// next pass repeats both.
		_, _ = p.c.all.API.Namespace(p.d.Namespace).UpdateStatus(p.ctx, p.d)
	}
	p.event(corev1.EventTypeWarning, reasonCreateFailed, "%s", msg)
	return cause
}
