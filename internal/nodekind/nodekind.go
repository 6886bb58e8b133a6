// Package nodekind distinguishes simulated nodes from those of real kubelets.
package nodekind

import corev1 "k8s.io/api/core/v1"

// Simulated is the annotation that is "true" on a Node that Fairlead simulates.
const Simulated = "fairlead.dev/simulated"

// IsSimulated reports whether Fairlead or kwok simulates a node.
func IsSimulated(n *corev1.Node) bool {
	return n.Annotations[Simulated] == "true" || n.Annotations["kwok.x-k8s.io/node"] == "fake"
}
