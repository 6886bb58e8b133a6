package node

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// features are those of a kubelet 1.36 and later that pods may require of a node (KEP-5328) and simulated nodes have, sorted.
var features = []string{
	"InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers", "RestartAllContainersOnContainerExits",
}

// declaredFeatures returns the features that a node declares: those of its template, which may be nil, or else those of its
// kubelet's version.
func declaredFeatures(kubelet string, template *corev1.Node) []string {
	if template != nil && template.Status.DeclaredFeatures != nil {
		return template.Status.DeclaredFeatures
	}
	if v, err := version.ParseGeneric(kubelet); err != nil || v.LessThan(version.MajorMinor(1, 36)) {
		return nil
	}
	return features
}
