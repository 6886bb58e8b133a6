package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// rollOut deletes pods of old revisions, the highest ordinal first, so that they are recreated with the new
// template.
func (p *pass) rollOut() error {
	s := p.set.Spec.UpdateStrategy
	if s.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	partition, most := 0, (*intstr.IntOrString)(nil)
	if r := s.RollingUpdate; r != nil {
		most = r.MaxUnavailable
		if r.Partition != nil {
			partition = int(*r.Partition)
		}
	}
	if most == nil || p.c.options.NoMaxUnavailable {
		return p.rollOne(partition)
	}
	return p.rollSeveral(partition, *most)
}

// rollOne deletes the highest pod of an old revision, once all above it are available.
func (p *pass) rollOne(partition int) error {
	for i := len(p.replicas) - 1; i >= partition; i-- {
		pod := p.replicas[i]
		if p.isOld(pod) {
			return p.replace(pod)
		}
		if !p.stands(pod) {
			return nil
		}
	}
	return nil
}

// rollSeveral deletes as many pods as may be unavailable at once. The limit is rounded down, but is at least one.
func (p *pass) rollSeveral(partition int, most intstr.IntOrString) error {
	limit, err := intstr.GetScaledValueFromIntOrPercent(&most, len(p.replicas), false)
	if err != nil {
		return err
	}
	limit = max(limit, 1)
	for _, pod := range p.replicas {
		if !p.stands(pod) {
			limit--
		}
	}
	if p.set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		return p.rollParallel(partition, limit)
	}
	for i := len(p.replicas) - 1; i >= partition && limit > 0; i-- {
		if p.isOld(p.replicas[i]) {
			if err := p.replace(p.replicas[i]); err != nil {
				return err
			}
			limit--
		}
	}
	return nil
}

// rollParallel deletes the pods that are unavailable anyway, and as many others as the limit allows.
func (p *pass) rollParallel(partition, limit int) error {
	var available []*corev1.Pod
	for i := len(p.replicas) - 1; i >= partition; i-- {
		pod := p.replicas[i]
		if !p.isOld(pod) {
			continue
		}
		if p.stands(pod) {
			available = append(available, pod)
		} else if err := p.replace(pod); err != nil {
			return err
		}
	}
	for _, pod := range available[:min(max(limit, 0), len(available))] {
		if err := p.replace(pod); err != nil {
			return err
		}
	}
	return nil
}

// replace deletes a pod and subtracts it from the counts.
func (p *pass) replace(pod *corev1.Pod) error {
	if err := p.delete(pod); err != nil {
		return err
	}
	if revisionOf(pod) == p.current.Name {
		p.status.CurrentReplicas--
	}
	return nil
}

// isOld reports whether the pod must be replaced by the update and is not terminating.
func (p *pass) isOld(pod *corev1.Pod) bool {
	return pod != nil && revisionOf(pod) != p.update.Name && pod.DeletionTimestamp == nil
}

// stands reports whether the pod is available and not terminating.
func (p *pass) stands(pod *corev1.Pod) bool {
	return p.isAvailable(pod) && pod.DeletionTimestamp == nil
}
