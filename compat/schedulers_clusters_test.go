package compat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clusterMaker makes nodes, the pods on them, and pods to ask about, by lot.
type clusterMaker struct {
	rand   *rand.Rand
	prefix string
	names  []string // of the nodes
	// claims with a volume, and claims without.
	claims, unbound []string
}

// once in n times.
func (g *clusterMaker) once(n int) bool { return g.rand.IntN(n) == 0 }

func pick[T any](g *clusterMaker, of ...T) T { return of[g.rand.IntN(len(of))] }

func (g *clusterMaker) nodes(n int) (nodes []*corev1.Node) {
	for i := range n {
		name := fmt.Sprintf("%sn%d", g.prefix, i)
		g.names = append(g.names, name)
		labels := map[string]string{corev1.LabelHostname: name, "rank": fmt.Sprint(g.rand.IntN(5)), "disk": pick(g, "ssd", "hdd")}
		if !g.once(8) {
			labels[corev1.LabelTopologyZone] = pick(g, "east", "west", "north")
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		for _, t := range []corev1.Taint{
			{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule},
			{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectPreferNoSchedule},
			{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule},
			{Key: "broken", Effect: corev1.TaintEffectNoExecute},
		} {
			if g.once(6) {
				node.Spec.Taints = append(node.Spec.Taints, t)
			}
		}
		last := i == n-1 // where a pod must fit, so that the scheduler shows that it knows the node
		node.Spec.Unschedulable = !last && g.once(12)
		node.Status.Allocatable = corev1.ResourceList{
			"cpu": resource.MustParse(pick(g, "1", "2", "4")), "memory": resource.MustParse(pick(g, "2Gi", "4Gi", "8Gi")),
			"ephemeral-storage": resource.MustParse("10Gi"), "pods": resource.MustParse(pick(g, "3", "6", "20")),
		}
		if last {
			node.Status.Allocatable["pods"] = resource.MustParse("50")
		}
		if g.once(3) {
			node.Status.Allocatable["example.com/gpu"] = resource.MustParse(pick(g, "1", "2"))
		}
		node.Status.Capacity = node.Status.Allocatable
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		if g.once(2) {
			node.Status.Images = []corev1.ContainerImage{{Names: []string{"web:1"}, SizeBytes: int64(100+g.rand.IntN(800)) << 20}}
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// pods are on nodes already, and run for different times.
func (g *clusterMaker) pods(n int) (pods []*corev1.Pod) {
	for i := range n {
		pod := g.pod(fmt.Sprintf("%sp%d", g.prefix, i))
		pod.Spec.NodeName = pick(g, g.names...)
		pod.Spec.PriorityClassName = pick(g, "", "high")
		pod.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)}
		g.neighbours(pod)
		g.mounts(pod)
		pods = append(pods, pod)
	}
	return pods
}

func (g *clusterMaker) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": pick(g, "a", "b", "c")}}, Spec: podSpec("web:1")}
	main := &pod.Spec.Containers[0]
	main.Resources.Requests = corev1.ResourceList{}
	if !g.once(4) {
		main.Resources.Requests["cpu"] = resource.MustParse(pick(g, "100m", "300m", "1"))
	}
	if !g.once(4) {
		main.Resources.Requests["memory"] = resource.MustParse(pick(g, "100Mi", "500Mi", "1Gi"))
	}
	if g.once(6) {
		one := resource.MustParse("1")
		main.Resources.Requests["example.com/gpu"], main.Resources.Limits = one, corev1.ResourceList{"example.com/gpu": one}
	}
	if g.once(4) {
		port := int32(8000 + g.rand.IntN(2))
		main.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: port, HostIP: pick(g, "", "10.1.1.1")}}
	}
	return pod
}

// question is a pod to be placed that cannot preempt.
func (g *clusterMaker) question(i int) *corev1.Pod {
	pod := g.pod("")
	pod.Spec.PriorityClassName = pick(g, "", "low")
	if g.once(3) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, pick(g,
			corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Operator: corev1.TolerationOpExists}))
	}
	if g.once(4) {
		pod.Spec.NodeSelector = map[string]string{"disk": pick(g, "ssd", "hdd", "none")}
	}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: g.nodeAffinity()}
	g.neighbours(pod)
	g.mounts(pod)
	if g.once(3) {
		pod.OwnerReferences = []metav1.OwnerReference{g.owner(pod.Labels["app"])}
	}
	for g.once(2) && len(pod.Spec.TopologySpreadConstraints) < 2 {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: int32(1 + g.rand.IntN(2)), TopologyKey: pick(g, corev1.LabelHostname, corev1.LabelTopologyZone, "disk"),
			WhenUnsatisfiable: pick(g, corev1.DoNotSchedule, corev1.ScheduleAnyway), LabelSelector: selecting(pick(g, "a", "b", "c")),
		}
		if len(pod.Spec.TopologySpreadConstraints) == 1 && pod.Spec.TopologySpreadConstraints[0].TopologyKey == c.TopologyKey {
			break
		}
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && g.once(4) {
			c.MinDomains = new(int32(1 + g.rand.IntN(4)))
		}
		if g.once(4) {
			c.NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
		}
		if g.once(4) {
			c.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
		}
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, c)
	}
	return pod
}

func (g *clusterMaker) nodeAffinity() *corev1.NodeAffinity {
	term := func() corev1.NodeSelectorTerm {
		if g.once(4) {
			return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{pick(g, g.names...)}}}}
		}
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{pick(g,
			corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"hdd"}},
			corev1.NodeSelectorRequirement{Key: "rank", Operator: corev1.NodeSelectorOpGt, Values: []string{"2"}},
			corev1.NodeSelectorRequirement{Key: "rank", Operator: corev1.NodeSelectorOpLt, Values: []string{"2"}},
			corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpExists})}}
	}
	a := &corev1.NodeAffinity{}
	if g.once(6) {
		s := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term()}}
		if g.once(2) {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, term())
		}
		a.RequiredDuringSchedulingIgnoredDuringExecution = s
	}
	if g.once(4) {
		a.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: int32(1 + g.rand.IntN(100)), Preference: term()}}
	}
	return a
}

// neighbours gives a pod wishes about other pods.
func (g *clusterMaker) neighbours(pod *corev1.Pod) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	term := func() corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{LabelSelector: selecting(pick(g, "a", "b", "c", "nobody")), TopologyKey: pick(g, corev1.LabelHostname, corev1.LabelTopologyZone)}
	}
	weighted := func() []corev1.WeightedPodAffinityTerm {
		return []corev1.WeightedPodAffinityTerm{{Weight: int32(1 + g.rand.IntN(100)), PodAffinityTerm: term()}}
	}
	near, apart := &corev1.PodAffinity{}, &corev1.PodAntiAffinity{}
	if g.once(7) {
		near.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{term()}
	}
	if g.once(5) {
		near.PreferredDuringSchedulingIgnoredDuringExecution = weighted()
	}
	if g.once(7) {
		apart.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{term()}
	}
	if g.once(5) {
		apart.PreferredDuringSchedulingIgnoredDuringExecution = weighted()
	}
	pod.Spec.Affinity.PodAffinity, pod.Spec.Affinity.PodAntiAffinity = near, apart
}

// preemptor is a pod before which the others make room.
func (g *clusterMaker) preemptor() *corev1.Pod {
	pod := &corev1.Pod{Spec: podSpec("web:1")}
	pod.Spec.PriorityClassName = "top"
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(pick(g, "1", "2", "4"))}
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8000}, {ContainerPort: 81, HostPort: 8001}}
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return pod
}

func describe(pod *corev1.Pod) string {
	b, err := json.Marshal(pod.Spec)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v %s", pod.Labels, b)
}
