package compat

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const gpus = "gpu.example.com"

// Our scheduler and kube-scheduler allocate the same devices: in clusters with devices made at random, for a pod that may
// go to one node, do its claims fit there, and with which devices, or for which reason not? Half of the pods stay.
func TestSchedulersAllocateAlike(t *testing.T) {
	ours := startAsked(t, "ours", func(kubeconfig string) {
		start(t, bin.fairlead, "scheduler", "--leader-elect=false", "--kubeconfig", kubeconfig)
	})
	theirs := startAsked(t, "kube-scheduler", func(kubeconfig string) {
		start(t, bin.scheduler, "--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0", "--kube-api-qps=2000", "--kube-api-burst=2000",
			"--feature-gates=OpportunisticBatching=false")
	})
	both := []*asked{ours, theirs}
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			g := &clusterMaker{rand: rand.New(rand.NewPCG(seed, 9)), prefix: fmt.Sprintf("d%d-", seed)}
			var nodes []*corev1.Node
			for i := range 3 {
				name := fmt.Sprintf("%sn%d", g.prefix, i)
				nodes = append(nodes, &corev1.Node{
					ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, "half": fmt.Sprint(i % 2)}},
					Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("100")},
						Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
				})
			}
			slicesOf, classes := g.deviceSlices(nodes), g.deviceClasses()
			for _, s := range both {
				s.T = t
				for _, c := range classes {
					_, err := s.c.ResourceV1().DeviceClasses().Create(s.ctx, c, metav1.CreateOptions{})
					s.must(err)
				}
				for _, x := range slicesOf {
					_, err := s.c.ResourceV1().ResourceSlices().Create(s.ctx, x, metav1.CreateOptions{})
					s.must(err)
				}
				s.build(nodes, nil)
			}
			defer func() {
				for _, s := range both {
					for i := range 40 {
						s.free(i)
					}
					now := *metav1.NewDeleteOptions(0)
					s.must(s.c.ResourceV1().ResourceSlices().DeleteCollection(s.ctx, now, metav1.ListOptions{}))
					s.must(s.c.ResourceV1().DeviceClasses().DeleteCollection(s.ctx, now, metav1.ListOptions{}))
					s.clear(g.prefix)
				}
			}()
			placed := 0
			for i := range 40 {
				spec, node, stays := g.claimSpec(), nodes[g.rand.IntN(3)].Name, g.once(2)
				a, b := ours.allocate(spec, node, i), theirs.allocate(spec, node, i)
				// Once more: a claim that is gone was perhaps not gone yet for one of them.
				for try := 0; a != b && try < 5; try++ {
					for _, s := range both {
						s.free(i)
					}
					time.Sleep(200 * time.Millisecond) // neither reports its progress
					a, b = ours.allocate(spec, node, i), theirs.allocate(spec, node, i)
				}
				if a != b {
					t.Fatalf("claim %d: %+v on %s\nours:   %s\ntheirs: %s", i, spec, node, a, b)
				}
				if placed += min(1, strings.Count(a, "=")); !stays {
					for _, s := range both {
						s.free(i)
					}
				}
			}
			t.Logf("%d of 40 claims allocated", placed)
		})
	}
}

// allocate creates a claim and a pod that uses it on a node, and returns the devices of the claim, or the reason of the rejection.
func (s *asked) allocate(spec resourcev1.ResourceClaimSpec, node string, i int) string {
	s.Helper()
	name := fmt.Sprintf("claim-%d", i)
	_, err := s.c.ResourceV1().ResourceClaims(asking).Create(s.ctx, &resourcev1.ResourceClaim{ObjectMeta: named(name), Spec: spec}, metav1.CreateOptions{})
	s.must(err)
	pod := &corev1.Pod{Spec: podSpec("train:1")}
	pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: &name}}
	answer := s.ask(pod)
	if answer.node == "" {
		return answer.message
	}
	c, err := s.c.ResourceV1().ResourceClaims(asking).Get(s.ctx, name, metav1.GetOptions{})
	s.must(err)
	all := []string{answer.node}
	for _, r := range c.Status.Allocation.Devices.Results {
		memory := r.ConsumedCapacity["memory"]
		all = append(all, fmt.Sprintf("%s=%s/%s(%s)", r.Request, r.Pool, r.Device, memory.String()))
	}
	selector := "everywhere"
	if ns := c.Status.Allocation.NodeSelector; ns != nil {
		selector = ns.String()
	}
	return strings.Join(append(all, selector), " ")
}

// free deletes a claim, if it exists, as the controllers do when its pod is gone.
func (s *asked) free(i int) {
	s.Helper()
	claims, name := s.c.ResourceV1().ResourceClaims(asking), fmt.Sprintf("claim-%d", i)
	list, err := claims.List(s.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	s.must(err)
	if len(list.Items) == 0 {
		return
	}
	c := &list.Items[0]
	if c.Status.Allocation != nil {
		c.Status = resourcev1.ResourceClaimStatus{}
		_, err = claims.UpdateStatus(s.ctx, c, metav1.UpdateOptions{})
		s.must(err)
	}
	_, err = claims.Patch(s.ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	s.must(err)
	s.must(claims.Delete(s.ctx, name, metav1.DeleteOptions{}))
}

func (g *clusterMaker) deviceClasses() (all []*resourcev1.DeviceClass) {
	for _, model := range []string{"a", "b"} {
		all = append(all, &resourcev1.DeviceClass{ObjectMeta: named(model), Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{
			{CEL: &resourcev1.CELDeviceSelector{Expression: `device.attributes["` + gpus + `"].model == "` + model + `"`}}}}})
	}
	return all
}

// deviceSlices makes pools: of nodes, of nodes with a label, with partitions, with shared devices, and incomplete ones.
func (g *clusterMaker) deviceSlices(nodes []*corev1.Node) (all []*resourcev1.ResourceSlice) {
	for p := range 6 {
		pool := fmt.Sprintf("%spool%d", g.prefix, p)
		s := &resourcev1.ResourceSlice{ObjectMeta: named(pool), Spec: resourcev1.ResourceSliceSpec{
			Driver: gpus, Pool: resourcev1.ResourcePool{Name: pool, Generation: 1, ResourceSliceCount: 1}}}
		if g.once(4) {
			s.Spec.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "half", Operator: corev1.NodeSelectorOpIn, Values: []string{fmt.Sprint(g.rand.IntN(2))}}}}}}
		} else {
			s.Spec.NodeName = &nodes[p%3].Name
		}
		counted := g.once(3)
		if g.once(8) {
			s.Spec.Pool.ResourceSliceCount = 2 // the other one does not come
		}
		for d := range 2 + g.rand.IntN(3) {
			s.Spec.Devices = append(s.Spec.Devices, g.device(d, counted))
		}
		if all = append(all, s); counted {
			s.Spec.Pool.ResourceSliceCount++
			counters := s.DeepCopy()
			counters.Name, counters.Spec.Devices = pool+"-counters", nil
			counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse("50Gi")}}}}
			all = append(all, counters)
		}
	}
	return all
}

func (g *clusterMaker) device(i int, counted bool) resourcev1.Device {
	memory := resource.MustParse([]string{"10Gi", "20Gi", "40Gi"}[g.rand.IntN(3)])
	d := resourcev1.Device{
		Name: fmt.Sprint("dev-", i), Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: memory}},
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"model": {StringValue: new([]string{"a", "b"}[g.rand.IntN(2)])}, "domain": {IntValue: new(g.rand.Int64N(2))}},
	}
	if g.once(4) {
		d.Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	}
	if counted {
		d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{"memory": {Value: memory}}}}
	} else if g.once(4) {
		d.AllowMultipleAllocations = new(true)
	}
	return d
}

// claimSpec makes a claim of one or two requests.
func (g *clusterMaker) claimSpec() (spec resourcev1.ResourceClaimSpec) {
	for i := range 1 + g.rand.IntN(2) {
		r := resourcev1.DeviceRequest{Name: fmt.Sprint("r", i)}
		exact := &resourcev1.ExactDeviceRequest{DeviceClassName: []string{"a", "b", "none"}[min(g.rand.IntN(9)/4, 2)]}
		switch g.rand.IntN(6) {
		case 0:
			exact.AllocationMode = resourcev1.DeviceAllocationModeAll
		case 1, 2:
			exact.Count = int64(1 + g.rand.IntN(2))
		}
		if g.once(3) {
			exact.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{
				Expression: `device.capacity["` + gpus + `"].memory.compareTo(quantity("20Gi")) >= 0`}}}
		}
		if g.once(4) {
			exact.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("8Gi")}}
		}
		if g.once(2) {
			exact.Tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
		}
		if r.Exactly = exact; g.once(4) {
			r.Exactly, r.FirstAvailable = nil, []resourcev1.DeviceSubRequest{{Name: "two", DeviceClassName: "a", Count: 2}, {Name: "one", DeviceClassName: "b"}}
		}
		spec.Devices.Requests = append(spec.Devices.Requests, r)
	}
	if g.once(4) {
		spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: new(resourcev1.FullyQualifiedName(gpus + "/domain"))}}
	}
	slices.SortFunc(spec.Devices.Requests, func(a, b resourcev1.DeviceRequest) int { return strings.Compare(a.Name, b.Name) })
	return spec
}
