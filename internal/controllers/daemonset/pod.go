package daemonset

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controllers/podcontrol"
)

// generationLabel is set on pods of a set with the deprecated template generation.
const generationLabel = "pod-template-generation"

// build returns the pod of a node.
func (p *pass) build(node string) *corev1.Pod {
	pod := podcontrol.FromTemplate(&p.ds.Spec.Template, p.ds, kind)
	pod.Labels = maps.Clone(pod.Labels)
	if pod.Labels == nil {
		pod.Labels = make(map[string]string)
	}
	if p.generation != "" {
		pod.Labels[generationLabel] = p.generation
	}
	pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = p.hash
	pod.Spec.Tolerations = p.fit.tolerations
	pod.Spec.Affinity = onNode(pod.Spec.Affinity, node)
	return pod
}

// onNode returns the affinity with its required node terms replaced by one for the node. The set's own terms
// selected that node and need not be checked again.
func onNode(a *corev1.Affinity, node string) *corev1.Affinity {
	a = a.DeepCopy()
	if a == nil {
		a = &corev1.Affinity{}
	}
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}
	return a
}

// nodeOf returns the node that a pod is on or is meant for, or "".
func nodeOf(p *corev1.Pod) string {
	if p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

// generationOf returns the deprecated generation of the set's template, or "".
func generationOf(ds *appsv1.DaemonSet) string {
	v := ds.Annotations[appsv1.DeprecatedTemplateGeneration]
	if _, err := strconv.ParseInt(v, 10, 64); err != nil {
		return ""
	}
	return v
}

// isUpdated reports whether the pod was made from the set's present template.
func (p *pass) isUpdated(pod *corev1.Pod) bool {
	return pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == p.hash ||
		p.generation != "" && pod.Labels[generationLabel] == p.generation
}
