package compat

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// run creates a pod.
func run(p *place, name string, with func(*corev1.Pod)) {
	p.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": p.ns}}, Spec: podSpec("web:1")}
	with(pod)
	p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, pod, metav1.CreateOptions{}))
}

func scheduled(pod *corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c
		}
	}
	return corev1.PodCondition{}
}

// waits records why a pod stays without a node.
func waits(p *place, name string) {
	p.Helper()
	pod := see(p, "pods", name, name+" turned away", func(pod *corev1.Pod) bool { return scheduled(pod).Status == corev1.ConditionFalse })
	c := scheduled(pod)
	p.saw("%s %s: %s", name, pod.Status.Phase, condition(c.Type, c.Status, c.Reason, c.Message))
}

func placement(p *place) {
	run(p, "large", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1000"), "example.com/rare": resource.MustParse("1")}
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"example.com/rare": resource.MustParse("1")}
	})
	waits(p, "large")
	p.event("Pod", "large", "FailedScheduling", "0/3 nodes are available")
	run(p, "choosy", func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"none": "such"} })
	waits(p, "choosy")
	run(p, "claims", func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "none"}}}}
	})
	waits(p, "claims")
	run(p, "gated", func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	})
	waits(p, "gated")
	p.must(p.c.CoreV1().Pods(p.ns).Patch(p.ctx, "gated", types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/schedulingGates"}]`), metav1.PatchOptions{}))
	see(p, "pods", "gated", "let through", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })

	apart := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: selecting("apart"), TopologyKey: corev1.LabelHostname}}}}
	for i := range 3 {
		run(p, fmt.Sprintf("apart-%d", i), func(pod *corev1.Pod) { pod.Labels["app"], pod.Spec.Affinity = "apart", apart })
		see(p, "pods", fmt.Sprintf("apart-%d", i), "bound", func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
	}
	run(p, "apart-3", func(pod *corev1.Pod) { pod.Labels["app"], pod.Spec.Affinity = "apart", apart })
	waits(p, "apart-3")
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "apart-0", metav1.DeleteOptions{}))
	see(p, "pods", "apart-3", "in the place of the one that went", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })

	for i := range 6 {
		run(p, fmt.Sprintf("even-%d", i), func(pod *corev1.Pod) {
			pod.Labels["app"] = "even"
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selecting("even")}}
		})
	}
	on := map[string]int{}
	for i := range 6 {
		on[see(p, "pods", fmt.Sprintf("even-%d", i), "bound", func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" }).Spec.NodeName]++
	}
	p.saw("spread %v", on)
	run(p, "together", func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: selecting("nobody"), TopologyKey: corev1.LabelHostname}}}}
	})
	waits(p, "together")
	see(p, "pods", "apart-3", "bound", func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
}

// preemption: a pod of high priority whose host port is in use on every node preempts one of
// the pods that use it. Those have the priority of the other tests' pods, so that they are not
// victims of each other.
func preemption(p *place) {
	for name, value := range map[string]int32{"low": 0, "high": 1000} {
		p.must(p.c.SchedulingV1().PriorityClasses().Create(p.ctx, &schedulingv1.PriorityClass{ObjectMeta: named(name), Value: value}, metav1.CreateOptions{}))
	}
	holding := func(priority string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.PriorityClassName = priority
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 7777}}
		}
	}
	for i := range 3 {
		run(p, fmt.Sprintf("low-%d", i), holding("low"))
	}
	for i := range 3 {
		see(p, "pods", fmt.Sprintf("low-%d", i), "running", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	}
	run(p, "low-3", holding("low"))
	waits(p, "low-3")
	run(p, "high", holding("high"))
	see(p, "pods", "high", "running", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	left := 0
	list, err := p.c.CoreV1().Pods(p.ns).List(p.ctx, metav1.ListOptions{})
	p.must(list, err)
	for _, pod := range list.Items {
		if pod.Spec.NodeName != "" && pod.Spec.PriorityClassName == "low" && pod.DeletionTimestamp == nil { // an ended pod makes room before it is deleted
			left++
		}
	}
	p.saw("%d of 3 left", left)
	p.event("Pod", "low-", "Preempted", "Preempted by pod <uid> on node node-")
	p.event("Pod", "high", "FailedScheduling", "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports.")
}
