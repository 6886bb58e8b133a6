package devices_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/scheduler/devices"
)

// Remembered answers are those of a search that begins anew, and no allocation is counted twice or lost, whatever happens
// to slices, rules, classes and claims.
func TestRememberedAnswers(t *testing.T) {
	for seed := range uint64(4) {
		w := newWorld(seed)
		for i := range 300 {
			w.step(i)
			w.check(t, fmt.Sprintf("seed %d, step %d", seed, i))
			if t.Failed() {
				return
			}
		}
	}
}

// world is a State, and all objects that it was told about.
type world struct {
	*rand.Rand
	state  *devices.State
	nodes  []*corev1.Node
	slices map[string]*resourcev1.ResourceSlice
	rules  map[string]*resourcev1.DeviceTaintRule
	claims map[string]*resourcev1.ResourceClaim
	class  *resourcev1.DeviceClass
	count  int // of versions
}

func newWorld(seed uint64) *world {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 0)), state: devices.NewState(), slices: map[string]*resourcev1.ResourceSlice{},
		rules: map[string]*resourcev1.DeviceTaintRule{}, claims: map[string]*resourcev1.ResourceClaim{},
	}
	for i := range 3 {
		w.nodes = append(w.nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{"half": fmt.Sprint(i % 2)}}})
	}
	w.setClass("a")
	return w
}

func (w *world) setClass(model string) {
	w.class = &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{
		{CEL: &resourcev1.CELDeviceSelector{Expression: `device.attributes["d"].model == "` + model + `"`}}}}}
	w.state.SetClass(w.class)
}

// step changes something at random.
func (w *world) step(i int) {
	name := fmt.Sprint(w.IntN(4))
	switch w.IntN(10) {
	case 0, 1, 2:
		w.slices[name] = w.slice(name, int64(i))
		w.state.SetSlice(w.slices[name])
	case 3:
		delete(w.slices, name)
		w.state.RemoveSlice(name)
	case 4:
		w.rules[name] = &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{Device: ptr.To(fmt.Sprint(w.IntN(3)))}, Taint: resourcev1.DeviceTaint{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule}}}
		w.state.SetRule(w.rules[name])
	case 5:
		delete(w.rules, name)
		w.state.RemoveRule(name)
	case 6:
		w.setClass(string("ab"[w.IntN(2)]))
	default:
		w.changeClaim(name)
	}
}

// slice returns a slice of a node, or of half of them, in one of two pools or its own.
func (w *world) slice(name string, generation int64) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "d", Pool: resourcev1.ResourcePool{Name: "p" + name, Generation: generation, ResourceSliceCount: 1}}}
	if w.IntN(3) > 0 {
		s.Spec.NodeName = &w.nodes[w.IntN(3)].Name
	} else {
		s.Spec.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "half", Operator: corev1.NodeSelectorOpIn, Values: []string{fmt.Sprint(w.IntN(2))}}}}}}
	}
	for i := range 3 {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{
			Name: fmt.Sprint(i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: ptr.To(string("ab"[w.IntN(2)]))}},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("10")}}, AllowMultipleAllocations: ptr.To(w.IntN(4) == 0),
		})
	}
	return s
}

func request(name string, n int64) *resourcev1.ResourceClaim {
	r := &resourcev1.ExactDeviceRequest{DeviceClassName: "c", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: n}
	r.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("4")}}
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
		Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: r}}}}}
}

// changeClaim creates a claim, or allocates it by way of a reservation, or frees or deletes it.
func (w *world) changeClaim(name string) {
	w.count++
	version := fmt.Sprint(w.count)
	c := w.claims[name]
	if c == nil {
		c = request(name, int64(1+w.IntN(2)))
		c.UID, c.ResourceVersion = types.UID(version), version
		w.claims[name] = c
		w.state.SetClaim(c)
		return
	}
	old := c
	c = c.DeepCopy()
	c.ResourceVersion = version
	if c.Status.Allocation != nil {
		if c.Status.Allocation = nil; w.IntN(2) == 0 {
			delete(w.claims, name)
			w.state.RemoveClaim(old)
			return
		}
		w.claims[name] = c
		w.state.SetClaim(c)
		w.state.SetClaim(old) // an old version comes late
		return
	}
	results, err := w.state.Ask([]*resourcev1.ResourceClaim{c}, 0).Allocate(w.nodes[w.IntN(3)])
	if err != nil || results == nil {
		return
	}
	w.state.Reserve(old, &results[0])
	if w.IntN(3) > 0 {
		c.Status.Allocation = results[0].DeepCopy()
		w.claims[name] = c
		w.state.SetClaim(c)
	}
	w.state.Release(old)
}

// check compares the answers of the State with those of one that has just been told all.
func (w *world) check(t *testing.T, when string) {
	t.Helper()
	fresh := devices.NewState()
	fresh.SetClass(w.class)
	for _, s := range w.slices {
		fresh.SetSlice(s)
	}
	for _, r := range w.rules {
		fresh.SetRule(r)
	}
	for _, c := range w.claims {
		fresh.SetClaim(c)
	}
	for n := range int64(3) {
		claims := []*resourcev1.ResourceClaim{request("new", n+1)}
		for _, node := range w.nodes {
			got, _, gotErr := w.state.Ask(claims, 0).Fits(node)
			want, _, wantErr := fresh.Ask(claims, 0).Fits(node)
			if got != want || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%s: %d devices on %s: %v, %v; want %v, %v", when, n+1, node.Name, got, gotErr, want, wantErr)
			}
		}
	}
}
