//go:build linux && realnode

package realnode

import (
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeploymentOverAllNodes spreads a Deployment over real and simulated nodes, and others
// over those of one kind, which a label tells apart.
func TestDeploymentOverAllNodes(t *testing.T) {
	ns := namespace(t)
	for _, test := range []struct {
		name     string
		operator corev1.NodeSelectorOperator // for the simulated nodes' label; empty: all nodes
		nodes    []string
	}{
		{"everywhere", "", []string{"n1", "n2", "node-1", "node-2"}},
		{"real", corev1.NodeSelectorOpNotIn, []string{"n1", "n2"}},
		{"simulated", corev1.NodeSelectorOpIn, []string{"node-1", "node-2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			template := agnhost(ns, test.name, "")
			template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: template.Labels},
			}}
			if test.operator != "" {
				template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
						Key: corev1.LabelInstanceTypeStable, Operator: test.operator, Values: []string{simulated},
					}}}},
				}}}
			}
			_, err := cluster.Client.AppsV1().Deployments(ns).Create(t.Context(), &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Name: test.name},
				Spec: appsv1.DeploymentSpec{
					Replicas: new(int32(4)),
					Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec},
				},
			}, metav1.CreateOptions{})
			must(t, err)
			must(t, cluster.UntilDeployment(t.Context(), ns, test.name))
			pods, err := cluster.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + test.name})
			must(t, err)
			used := map[string]int{}
			for _, pod := range pods.Items {
				used[pod.Spec.NodeName]++
				if answer := strings.TrimSpace(kubectl(t, "-n", ns, "exec", pod.Name, "--", "hostname")); answer != pod.Name {
					t.Errorf("hostname in pod %s on %s: %q", pod.Name, pod.Spec.NodeName, answer)
				}
			}
			if got := slices.Sorted(maps.Keys(used)); !slices.Equal(got, test.nodes) {
				t.Errorf("pods on %v, want %v", used, test.nodes)
			}
		})
	}
}
