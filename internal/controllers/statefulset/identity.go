package statefulset

import (
	"maps"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/controllers/podcontrol"
)

// ordinalOf returns the ordinal in the pod's name. ok is false if the name is not one of the set's.
func ordinalOf(set *appsv1.StatefulSet, p *corev1.Pod) (n int, ok bool) {
	digits, ok := strings.CutPrefix(p.Name, set.Name+"-")
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseUint(digits, 10, 31)
	return int(v), err == nil
}

func podName(set *appsv1.StatefulSet, ordinal int) string {
	return set.Name + "-" + strconv.Itoa(ordinal)
}

func firstOrdinal(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals != nil {
		return int(set.Spec.Ordinals.Start)
	}
	return 0
}

func replicasOf(set *appsv1.StatefulSet) int {
	if set.Spec.Replicas != nil {
		return int(*set.Spec.Replicas)
	}
	return 1
}

// build returns the pod of an ordinal with a revision's template. It also has a generateName, like the pods of all
// controllers, although its name is fixed.
func build(set *appsv1.StatefulSet, t *corev1.PodTemplateSpec, revision string, ordinal int) *corev1.Pod {
	p := podcontrol.FromTemplate(t, set, kind)
	p.Name = podName(set, ordinal)
	p.Labels = maps.Clone(p.Labels)
	identify(set, p, ordinal)
	p.Labels[appsv1.StatefulSetRevisionLabel] = revision
	p.Spec.Hostname = p.Name
	p.Spec.Subdomain = set.Spec.ServiceName
	p.Spec.Volumes = volumes(set, p.Spec.Volumes, ordinal)
	return p
}

// identify sets the labels of a pod that depend on its ordinal.
func identify(set *appsv1.StatefulSet, p *corev1.Pod, ordinal int) {
	if p.Labels == nil {
		p.Labels = make(map[string]string)
	}
	p.Labels[appsv1.StatefulSetPodNameLabel] = podName(set, ordinal)
	p.Labels[appsv1.PodIndexLabel] = strconv.Itoa(ordinal)
}

// revisionOf names the revision that the pod was made from.
func revisionOf(p *corev1.Pod) string { return p.Labels[appsv1.StatefulSetRevisionLabel] }

func isRunningAndReady(p *corev1.Pod) bool {
	return p != nil && p.Status.Phase == corev1.PodRunning && podcontrol.IsReady(p)
}

func (p *pass) isAvailable(pod *corev1.Pod) bool {
	return pod != nil && podcontrol.IsAvailable(pod, p.minReady(), p.now)
}

func (p *pass) minReady() time.Duration {
	return time.Duration(p.set.Spec.MinReadySeconds) * time.Second
}
