package scheduler

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestClusterAgainstModel changes a cluster at random and after each change compares what
// it keeps count of with a count from scratch.
func TestClusterAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	objects := &fakeObjects{namespaces: map[string]map[string]string{"ns0": {"team": "x"}, "ns1": {"team": "y"}}}
	c := NewCluster(objects)
	pods := map[types.UID]*corev1.Pod{} // the model
	alive := map[string]*corev1.Node{}

	apps := []string{"a", "b", "c"}
	inExpr := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}}
	exists := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	var rules []*matcher
	asker := newPod("asker", in("ns0"))
	for _, s := range []*metav1.LabelSelector{selecting("app", "a"), selecting("app", "c"), inExpr, exists, {}} {
		for _, namespaces := range []*metav1.LabelSelector{nil, {}, selecting("team", "y")} {
			term, err := affinityTerm(asker, &corev1.PodAffinityTerm{LabelSelector: s, NamespaceSelector: namespaces})
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, newMatcher(term))
		}
	}
	for step := range 4000 {
		name := fmt.Sprintf("n%d", rng.IntN(6))
		switch k := rng.IntN(10); {
		case k == 0:
			alive[name] = newNode(name, zone(fmt.Sprintf("z%d", rng.IntN(3))))
			c.SetNode(alive[name])
		case k == 1:
			delete(alive, name)
			c.RemoveNode(name)
		case k < 7:
			p := newPod(fmt.Sprintf("p%d", rng.IntN(30)), in(fmt.Sprintf("ns%d", rng.IntN(2))), on(name),
				with("app", apps[rng.IntN(3)]), asking("cpu", fmt.Sprint(rng.IntN(3))), apart(corev1.LabelHostname, selecting("app", apps[rng.IntN(3)])))
			if rng.IntN(4) == 0 {
				p.DeletionTimestamp = &metav1.Time{}
			}
			pods[p.UID] = p
			c.AddPod(NewPodInfo(p), name)
		default:
			uid := types.UID(fmt.Sprintf("p%d", rng.IntN(30)))
			delete(pods, uid)
			c.RemovePod(uid)
		}

		if len(c.order) != len(alive) {
			t.Fatalf("step %d: %d nodes, want %d", step, len(c.order), len(alive))
		}
		m := rules[rng.IntN(len(rules))]
		tally, all, live := c.tally(m), map[string]int32{}, map[string]int32{}
		cpu, repelled := map[string]int64{}, map[string]bool{}
		for _, p := range pods {
			cpu[p.Spec.NodeName] += p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			if m.matches(p.Namespace, p.Labels, objects.NamespaceLabels) {
				all[p.Spec.NodeName]++
				if p.DeletionTimestamp == nil {
					live[p.Spec.NodeName]++
				}
			}
			selector := p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector
			if p.Namespace == "ns0" && selector.MatchLabels["app"] == "a" && alive[p.Spec.NodeName] != nil {
				repelled[p.Spec.NodeName] = true
			}
		}
		for _, n := range c.order {
			name := n.Node.Name
			if tally.on(n) != all[name] || tally.liveOn(n) != live[name] {
				t.Fatalf("step %d: %s on %s: %d/%d, want %d/%d", step, m.key, name, tally.on(n), tally.liveOn(n), all[name], live[name])
			}
			if n.Requested.MilliCPU != cpu[name] {
				t.Fatalf("step %d: %s has %dm requested, want %dm", step, name, n.Requested.MilliCPU, cpu[name])
			}
		}
		zones := map[string]int64{}
		for name, n := range alive {
			if live[name] > 0 {
				zones[n.Labels[corev1.LabelTopologyZone]] += int64(live[name])
			}
		}
		byZone := c.domains(tally, corev1.LabelTopologyZone)
		for _, n := range c.order {
			if z := n.Node.Labels[corev1.LabelTopologyZone]; byZone.live[byZone.of(n)] != zones[z] {
				t.Fatalf("step %d: %s in %s: %d, want %d", step, m.key, z, byZone.live[byZone.of(n)], zones[z])
			}
		}
		got := map[string]bool{}
		for _, d := range c.forbidden(NewPodInfo(newPod("x", in("ns0"), with("app", "a")))) {
			for _, n := range c.order {
				if d.has(n) {
					got[n.Node.Name] = true
				}
			}
		}
		if !maps.Equal(got, repelled) {
			t.Fatalf("step %d: repelled from %v, want %v", step, got, repelled)
		}
	}
	for uid := range pods {
		c.RemovePod(uid)
	}
	for name := range alive {
		c.RemoveNode(name)
	}
	if len(c.nodes) != 0 || len(c.free) != c.slots || len(c.carriers.byKey) != 0 || len(c.spaces) != 0 {
		t.Errorf("an empty cluster keeps %d nodes, %d of %d slots, %d rules, %d namespaces",
			len(c.nodes), c.slots-len(c.free), c.slots, len(c.carriers.byKey), len(c.spaces))
	}
}

func TestNamespaceLabelsChange(t *testing.T) {
	objects := &fakeObjects{namespaces: map[string]map[string]string{"other": {"team": "x"}}}
	c := newCluster(objects, nodes(1), newPod("q", in("other"), on("n1"), with("app", "web")))
	p := newPod("p", apart(corev1.LabelHostname, selecting("app", "web"), func(t *corev1.PodAffinityTerm) {
		t.NamespaceSelector = selecting("team", "x")
	}))
	if fit, _ := fitting(c, p); fit != nil {
		t.Fatalf("fits %v beside a pod it avoids", fit)
	}
	objects.namespaces["other"] = map[string]string{"team": "y"}
	c.NamespacesChanged()
	if _, err := fitting(c, p); err != nil {
		t.Fatal(err)
	}
}

func TestPodRequests(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	container := func(cpu string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: quantities("cpu", cpu)}}
	}
	sidecar := container("300m")
	sidecar.RestartPolicy = &always
	for _, tc := range []struct {
		name string
		spec corev1.PodSpec
		want int64
	}{
		{"containers", corev1.PodSpec{Containers: []corev1.Container{container("1"), container("500m")}}, 1500},
		{"small init", corev1.PodSpec{Containers: []corev1.Container{container("1")}, InitContainers: []corev1.Container{container("500m")}}, 1000},
		{"large init", corev1.PodSpec{Containers: []corev1.Container{container("1")}, InitContainers: []corev1.Container{container("2"), container("1")}}, 2000},
		{"sidecar", corev1.PodSpec{Containers: []corev1.Container{container("1")}, InitContainers: []corev1.Container{sidecar}}, 1300},
		{"init after sidecar", corev1.PodSpec{Containers: []corev1.Container{container("1")}, InitContainers: []corev1.Container{sidecar, container("1500m")}}, 1800},
		{"init before sidecar", corev1.PodSpec{Containers: []corev1.Container{container("1")}, InitContainers: []corev1.Container{container("1500m"), sidecar}}, 1500},
		{"overhead", corev1.PodSpec{Containers: []corev1.Container{container("1")}, Overhead: quantities("cpu", "250m")}, 1250},
		{"whole pod", corev1.PodSpec{Containers: []corev1.Container{container("1")}, Resources: &corev1.ResourceRequirements{Requests: quantities("cpu", "3")}}, 3000},
	} {
		if got := podRequests(&corev1.Pod{Spec: tc.spec}, false).MilliCPU; got != tc.want {
			t.Errorf("%s: %dm, want %dm", tc.name, got, tc.want)
		}
	}
	resizing := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("1")}}}
	resizing.Spec.Containers[0].Name = "c"
	resizing.Generation, resizing.Status.ObservedGeneration = 2, 2
	resizing.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResources: quantities("cpu", "2")}}
	if got := podRequests(resizing, false).MilliCPU; got != 1000 {
		t.Errorf("resized: %dm", got)
	}
	resizing.Generation = 3
	if got := podRequests(resizing, false).MilliCPU; got != 2000 {
		t.Errorf("not yet seen by the node: %dm", got)
	}
	none := podRequests(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}}, true)
	if none.MilliCPU != assumedMilliCPU || none.Memory != assumedMemory {
		t.Errorf("a container without requests is compared as %+v", none)
	}
}
