package scheduler

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestScores looks at the points that one score gives to each node, in order.
func TestScores(t *testing.T) {
	host, soft := corev1.LabelHostname, corev1.ScheduleAnyway
	zones := []*corev1.Node{newNode("a1", zone("a")), newNode("a2", zone("a")), newNode("b1", zone("b"))}
	web, isWeb := with("app", "web"), selecting("app", "web")
	set := &fakeObjects{owners: map[string]*metav1.LabelSelector{"web": isWeb}}
	service := &fakeObjects{services: []*corev1.Service{{Spec: corev1.ServiceSpec{Selector: isWeb.MatchLabels}}}}
	preferring := func(weight int32, node string) podOption {
		return func(p *corev1.Pod) {
			affinityOf(p).NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: host, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}},
			}}}
		}
	}
	for _, tc := range []struct {
		name    string
		score   Score
		objects *fakeObjects
		nodes   []*corev1.Node
		there   []*corev1.Pod
		pod     *corev1.Pod
		want    []int64 // nil: all the same
	}{
		{name: "least allocated", score: allocation{resources: cpuAndMemory}, nodes: nodes(2), there: []*corev1.Pod{newPod("q", on("n1"), asking("cpu", "2", "memory", "2Gi"))},
			pod: newPod("p", asking("cpu", "1", "memory", "1Gi")), want: []int64{(25 + 62) / 2, (75 + 87) / 2}},
		{name: "least allocated counts pods without requests", score: allocation{resources: cpuAndMemory}, nodes: nodes(2), there: []*corev1.Pod{newPod("q", on("n1"))},
			pod: newPod("p"), want: []int64{(95 + 95) / 2, (97 + 97) / 2}},
		{name: "balanced", score: balanced{cpuAndMemory}, nodes: nodes(2), there: []*corev1.Pod{newPod("q", on("n1"), asking("cpu", "2"))},
			pod: newPod("p", asking("memory", "4Gi")), want: []int64{50 + (50+100-75)/2, 50 + (50+75-100)/2}},
		{name: "balanced does not care about small pods", score: balanced{cpuAndMemory}, nodes: nodes(2), pod: newPod("p")},
		{name: "most allocated", score: allocation{strategy: mostAllocated, resources: cpuAndMemory}, nodes: nodes(2), there: []*corev1.Pod{newPod("q", on("n1"), asking("cpu", "2", "memory", "2Gi"))},
			pod: newPod("p", asking("cpu", "1", "memory", "1Gi")), want: []int64{(75 + 37) / 2, (25 + 12) / 2}},
		{name: "along a curve", score: allocation{strategy: requestedToCapacity, resources: cpuAndMemory[:1], shape: []shapePoint{{0, 0}, {50, 100}, {100, 50}}}, nodes: nodes(2),
			there: []*corev1.Pod{newPod("q", on("n1"), asking("cpu", "2"))}, pod: newPod("p", asking("cpu", "1")), want: []int64{75, 50}},
		{name: "extended resources with weights", score: allocation{resources: []weightedResource{{"cpu", 1}, {"example.com/gpu", 3}}}, nodes: []*corev1.Node{newNode("n1", allocatable("example.com/gpu", "4")), newNode("n2")},
			pod: newPod("p", asking("cpu", "1", "example.com/gpu", "1")), want: []int64{75, 75}},
		{name: "images", score: imageLocality{}, nodes: []*corev1.Node{newNode("n1", having("nginx:latest", 523<<20)), newNode("n2")},
			pod: newPod("p", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx" }), want: []int64{24, 0}},
		{name: "images are as large as the first node says", score: imageLocality{}, nodes: []*corev1.Node{newNode("n1", having("nginx:latest", 523<<20)), newNode("n2", having("nginx:latest", 1<<30))},
			pod: newPod("p", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx" }), want: []int64{51, 51}},
		{name: "images that nobody has", score: imageLocality{}, nodes: []*corev1.Node{newNode("n1", having("nginx:2", 523<<20)), newNode("n2")},
			pod: newPod("p", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx" })},
		{name: "mild taints", score: preferUntainted{}, nodes: []*corev1.Node{newNode("n1", tainted("x", corev1.TaintEffectPreferNoSchedule)), newNode("n2")},
			pod: newPod("p"), want: []int64{0, 100}},
		{name: "mild taints tolerated", score: preferUntainted{}, nodes: []*corev1.Node{newNode("n1", tainted("x", corev1.TaintEffectPreferNoSchedule)), newNode("n2")},
			pod: newPod("p", tolerating("x")), want: []int64{100, 100}},
		{name: "no mild taints", score: preferUntainted{}, nodes: nodes(2), pod: newPod("p")},
		{name: "preferred node", score: preferNodes{}, nodes: nodes(2), pod: newPod("p", preferring(7, "n2")), want: []int64{0, 100}},

		{name: "preferred pods", score: preferPods{required: 1}, nodes: zones, there: []*corev1.Pod{newPod("q", on("a1"), web)},
			pod: newPod("p", rather(5, corev1.LabelTopologyZone, isWeb)), want: []int64{100, 100, 0}},
		{name: "avoided pods", score: preferPods{required: 1}, nodes: zones, there: []*corev1.Pod{newPod("q", on("a1"), web)},
			pod: newPod("p", rather(-5, host, isWeb)), want: []int64{0, 100, 100}},
		{name: "pods that prefer this one", score: preferPods{required: 1}, nodes: zones, there: []*corev1.Pod{newPod("q", on("b1"), rather(5, host, isWeb))},
			pod: newPod("p", web), want: []int64{0, 0, 100}},
		{name: "pods that require this one", score: preferPods{required: 1}, nodes: zones, there: []*corev1.Pod{newPod("q", on("b1"), beside(host, isWeb))},
			pod: newPod("p", web), want: []int64{0, 0, 100}},
		{name: "pods that require this one do not count", score: preferPods{required: 0}, nodes: zones, there: []*corev1.Pod{newPod("q", on("b1"), beside(host, isWeb))},
			pod: newPod("p", web)},
		{name: "pods that prefer this one do not count", score: preferPods{onlyOwn: true}, nodes: zones, there: []*corev1.Pod{newPod("q", on("b1"), rather(5, host, isWeb))},
			pod: newPod("p", web)},
		{name: "no preferences", score: preferPods{required: 1}, nodes: zones, there: []*corev1.Pod{newPod("q", on("b1"), apart(host, isWeb))}, pod: newPod("p", web)},

		{name: "spread, own rule", score: spreadPods{builtinSpread}, nodes: zones, there: []*corev1.Pod{newPod("q", on("a1"), web), newPod("r", on("a1"), web)},
			pod: newPod("p", web, spread(corev1.LabelTopologyZone, 1, soft, isWeb)), want: []int64{0, 0, 100}},
		{name: "spread, node without the key", score: spreadPods{builtinSpread}, nodes: []*corev1.Node{newNode("n1"), newNode("a1", zone("a"))},
			pod: newPod("p", web, spread(corev1.LabelTopologyZone, 1, soft, isWeb)), want: []int64{0, 100}},
		{name: "spread, by owner", score: spreadPods{builtinSpread}, objects: set, nodes: nodes(2), there: []*corev1.Pod{newPod("q", on("n1"), web), newPod("r", on("n1"), web), newPod("s", on("n2"), web)},
			pod: newPod("p", web, owned("ReplicaSet", "web")), want: []int64{60, 100}},
		{name: "spread, by service", score: spreadPods{builtinSpread}, objects: service, nodes: nodes(2), there: []*corev1.Pod{newPod("q", on("n1"), web)},
			pod: newPod("p", web), want: []int64{66, 100}},
		{name: "spread, hard rules only", score: spreadPods{builtinSpread}, objects: service, nodes: zones,
			pod: newPod("p", web, spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, isWeb))},
		{name: "spread, alone", score: spreadPods{builtinSpread}, nodes: nodes(2), pod: newPod("p", web)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(tc.objects, tc.nodes, tc.there...)
			r := tc.score.Prepare(c, NewPodInfo(tc.pod), c.order)
			if r == nil {
				if tc.want != nil {
					t.Fatalf("nothing to say, want %v", tc.want)
				}
				return
			}
			got := make([]int64, len(c.order))
			for i, n := range c.order {
				got[i] = r.Of(n)
			}
			r.Normalize(got)
			for i := range got {
				if tc.want == nil || got[i] != tc.want[i] {
					t.Fatalf("points %v, want %v", got, tc.want)
				}
			}
		})
	}
}
