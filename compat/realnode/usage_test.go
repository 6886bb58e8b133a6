//go:build linux && realnode

package realnode

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/test/utils/image"
)

// TestUsage scales a Deployment of containers by the CPU that they burn, up and down again, and looks at the usage of
// both kinds of nodes and of pods on them.
func TestUsage(t *testing.T) {
	const most = 3
	ns := namespace(t)
	idle := agnhost(ns, "simulated", "node-1")
	idle.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	run(t, idle)

	// A container may burn 300% of its request, until it has a file.
	template := agnhost(ns, "burn", "")
	onRealNodes(&template.Spec)
	template.Spec.Containers[0] = corev1.Container{
		Name: "burn", Image: image.GetE2EImage(image.BusyBox), Command: []string{"sh", "-c", "until [ -e /tmp/enough ]; do :; done; exec sleep 1000000"},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("150m")},
		},
	}
	_, err := cluster.Client.AppsV1().Deployments(ns).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "burn"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	must(t, cluster.UntilDeployment(t.Context(), ns, "burn"))
	first := podsOf(t, ns, "burn")[0].Name
	_, err = cluster.Client.AutoscalingV2().HorizontalPodAutoscalers(ns).Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "burn"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "burn"},
			MaxReplicas:    most,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(60))},
			}}},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0))}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	scaled := func(replicas int32) {
		t.Helper()
		must(t, until(t.Context(), cluster.Client.AppsV1().RESTClient(), "deployments", ns, "burn", "scaled", func(d *appsv1.Deployment) bool {
			return d.Status.ObservedGeneration == d.Generation && d.Status.Replicas == replicas && d.Status.AvailableReplicas == replicas
		}))
	}
	scaled(most)

	t.Run("top nodes", func(t *testing.T) {
		usage := top(t, "nodes")
		for _, node := range cluster.Nodes {
			got := usage[node.Name]
			if len(got) != 4 || !strings.HasSuffix(got[0], "m") || got[0] == "0m" || !strings.HasSuffix(got[2], "Mi") || got[2] == "0Mi" {
				t.Errorf("usage of %s: %v, want CPU and memory", node.Name, got)
			}
		}
		if got := usage["node-1"]; len(got) != 4 || got[0] != "100m" || got[2] != "32Mi" {
			t.Errorf("usage of node-1: %v, want half of its pod's requests", got)
		}
		if got := usage["node-2"]; len(got) != 4 || got[0] != "0m" {
			t.Errorf("usage of node-2, which has no pods: %v", got)
		}
	})
	t.Run("top pods", func(t *testing.T) {
		usage := top(t, "pods", "-n", ns)
		if len(usage[first]) != 2 {
			t.Fatalf("usage of pod %s: %v", first, usage[first])
		}
		burns := resource.MustParse(usage[first][0])
		if m := burns.MilliValue(); m < 30 || m > 180 { // above the target, and about the limit at most
			t.Errorf("CPU of a pod that burns up to 150m: %v", usage[first])
		}
		if got := strings.Join(usage["simulated"], " "); got != "100m 32Mi" {
			t.Errorf("usage of the simulated pod: %s, want half of its requests", got)
		}
	})

	for _, pod := range podsOf(t, ns, "burn") {
		kubectl(t, "-n", ns, "exec", pod.Name, "--", "touch", "/tmp/enough")
	}
	scaled(1)
}

// top is the output of `kubectl top`: the other columns of each line, by the first one, the name.
func top(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	usage := map[string][]string{}
	for line := range strings.Lines(kubectl(t, append([]string{"top"}, append(args, "--no-headers")...)...)) {
		words := strings.Fields(line)
		usage[words[0]] = words[1:]
	}
	return usage
}
