package cache_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	st "fairlead.dev/internal/scheduler/schedulertest"
)

// TestClusterAgainstModel changes a cluster at random and after each change compares its
// counts with counts from scratch.
func TestClusterAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	objects := &st.Objects{NamespaceLabelsByName: map[string]map[string]string{"ns0": {"team": "x"}, "ns1": {"team": "y"}}}
	c := cache.NewCluster(objects)
	pods := map[types.UID]*corev1.Pod{} // the model
	alive := map[string]*corev1.Node{}

	apps := []string{"a", "b", "c"}
	inExpr := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}}
	exists := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	var rules []*cache.PodSelector
	for _, s := range []*metav1.LabelSelector{st.Selecting("app", "a"), st.Selecting("app", "c"), inExpr, exists, {}} {
		for _, namespaces := range []*metav1.LabelSelector{nil, {}, st.Selecting("team", "y")} {
			asker := cache.NewPodInfo(st.Pod("asker", st.InNamespace("ns0"), st.Apart(corev1.LabelHostname, s, func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = namespaces })))
			rules = append(rules, asker.RequiredAntiAffinityTerms[0].PodSelector)
		}
	}
	for step := range 4000 {
		name := fmt.Sprintf("n%d", rng.IntN(6))
		switch k := rng.IntN(10); {
		case k == 0:
			alive[name] = st.Node(name, st.InZone(fmt.Sprintf("z%d", rng.IntN(3))))
			c.SetNode(alive[name])
		case k == 1:
			delete(alive, name)
			c.RemoveNode(name)
		case k < 7:
			p := st.Pod(fmt.Sprintf("p%d", rng.IntN(30)), st.InNamespace(fmt.Sprintf("ns%d", rng.IntN(2))), st.On(name),
				st.WithLabels("app", apps[rng.IntN(3)]), st.Requesting("cpu", fmt.Sprint(rng.IntN(3))), st.Apart(corev1.LabelHostname, st.Selecting("app", apps[rng.IntN(3)])))
			if rng.IntN(4) == 0 {
				p.DeletionTimestamp = &metav1.Time{}
			}
			pods[p.UID] = p
			c.AddPod(cache.NewPodInfo(p), name)
		default:
			uid := types.UID(fmt.Sprintf("p%d", rng.IntN(30)))
			delete(pods, uid)
			c.RemovePod(uid)
		}

		if len(c.NodeInfos) != len(alive) {
			t.Fatalf("step %d: %d nodes, want %d", step, len(c.NodeInfos), len(alive))
		}
		m := rules[rng.IntN(len(rules))]
		tally, all, live := c.Tally(m), map[string]int32{}, map[string]int32{}
		cpu, repelled := map[string]int64{}, map[string]bool{}
		for _, p := range pods {
			cpu[p.Spec.NodeName] += p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			if m.Matches(p.Namespace, p.Labels, objects.NamespaceLabels) {
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
		for _, n := range c.NodeInfos {
			name := n.Node.Name
			if tally.Pods(n) != all[name] || tally.LivePods(n) != live[name] {
				t.Fatalf("step %d: %s on %s: %d/%d, want %d/%d", step, m.Key, name, tally.Pods(n), tally.LivePods(n), all[name], live[name])
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
		byZone := c.DomainCounts(tally, corev1.LabelTopologyZone)
		for _, n := range c.NodeInfos {
			if z := n.Node.Labels[corev1.LabelTopologyZone]; byZone.Live[byZone.Domain(n)] != zones[z] {
				t.Fatalf("step %d: %s in %s: %d, want %d", step, m.Key, z, byZone.Live[byZone.Domain(n)], zones[z])
			}
		}
		got := map[string]bool{}
		c.EachExistingTerm(cache.NewPodInfo(st.Pod("x", st.InNamespace("ns0"), st.WithLabels("app", "a"))), func(term *cache.ExistingTerm) {
			counts := c.ExistingTermCounts(term)
			for _, n := range c.NodeInfos {
				if d := counts.Domain(n); d != cache.NoDomain && counts.All[d] > 0 {
					got[n.Node.Name] = true
				}
			}
		})
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
	if left := c.Leftovers(); left != "" {
		t.Errorf("an empty cluster keeps %s", left)
	}
}

func TestPodRequests(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	container := func(cpu string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: st.Quantities("cpu", cpu)}}
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
		{"overhead", corev1.PodSpec{Containers: []corev1.Container{container("1")}, Overhead: st.Quantities("cpu", "250m")}, 1250},
		{"whole pod", corev1.PodSpec{Containers: []corev1.Container{container("1")}, Resources: &corev1.ResourceRequirements{Requests: st.Quantities("cpu", "3")}}, 3000},
	} {
		if got := cache.NewPodInfo(&corev1.Pod{Spec: tc.spec}).Requests.MilliCPU; got != tc.want {
			t.Errorf("%s: %dm, want %dm", tc.name, got, tc.want)
		}
	}
	resizing := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("1")}}}
	resizing.Spec.Containers[0].Name = "c"
	resizing.Generation, resizing.Status.ObservedGeneration = 2, 2
	resizing.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResources: st.Quantities("cpu", "2")}}
	if got := cache.NewPodInfo(resizing).Requests.MilliCPU; got != 1000 {
		t.Errorf("resized: %dm", got)
	}
	resizing.Generation = 3
	if got := cache.NewPodInfo(resizing).Requests.MilliCPU; got != 2000 {
		t.Errorf("not yet seen by the node: %dm", got)
	}
	none := cache.NewPodInfo(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}}).NonZeroRequests
	if none.MilliCPU != 100 || none.Memory != 200<<20 {
		t.Errorf("a container without requests is compared as %+v", none)
	}
}
