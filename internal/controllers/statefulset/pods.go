package statefulset

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/internal/controllers/podcontrol"
)

// create creates the pod's claims and then the pod.
func (p *pass) create(pod *corev1.Pod, ordinal int) (*corev1.Pod, error) {
	if err := p.makeClaims(ordinal); err != nil {
		p.tell("Create", pod, err)
		return nil, err
	}
	made, err := p.c.pods.API.Namespace(pod.Namespace).Create(p.ctx, pod)
	if apierrors.IsAlreadyExists(err) || podcontrol.NamespaceGoing(err) {
		return nil, err // a stale cache, a foreign pod of that name, or a deletion: without an event
	}
	p.tell("Create", pod, err)
	if err != nil {
		return nil, err
	}
	p.c.written.Wrote(p.key(), made)
	return made, p.retain(made, ordinal)
}

// hold restores the identity and storage of a pod that was changed.
func (p *pass) hold(pod *corev1.Pod, ordinal int) error {
	if err := p.retain(pod, ordinal); err != nil {
		return err
	}
	if pod.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name && hasVolumes(p.set, pod, ordinal) {
		return nil
	}
	changed := pod.DeepCopy()
	identify(p.set, changed, ordinal)
	if !hasVolumes(p.set, pod, ordinal) {
		changed.Spec.Volumes = volumes(p.set, changed.Spec.Volumes, ordinal)
		if err := p.makeClaims(ordinal); err != nil {
			return err
		}
	}
	_, err := p.c.pods.API.Namespace(pod.Namespace).Update(p.ctx, changed)
	if !apierrors.IsConflict(err) {
		p.tell("Update", pod, err)
	}
	return err
}

// delete deletes the pod with that UID. If it is gone already, that is not an error.
func (p *pass) delete(pod *corev1.Pod) error {
	err := p.c.pods.API.Namespace(pod.Namespace).Delete(p.ctx, pod.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	p.tell("Delete", pod, err)
	return err
}

func (p *pass) tell(verb string, pod *corev1.Pod, err error) {
	if err == nil {
		p.c.rec.Event(p.set, corev1.EventTypeNormal, "Successful"+verb, "%s Pod %s in StatefulSet %s successful", verb, pod.Name, p.set.Name)
		return
	}
	p.c.rec.Event(p.set, corev1.EventTypeWarning, "Failed"+verb, "%s Pod %s in StatefulSet %s failed error: %s", verb, pod.Name, p.set.Name, err)
}
