package scheduler_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

// The first alternative that is free somewhere decides on the node.
func TestAlternativeDevices(t *testing.T) {
	d := newDeviceEnv(t, 2)
	d.ready("node-1", "node-2")
	d.class("large", `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "large"`)
	d.slice("node-1", device("a", "small", "8Gi"), device("b", "small", "8Gi"))
	d.slice("node-2", device("a", "large", "80Gi"), device("seen", "other", "8Gi"))
	// The scheduler, which watches slices apart from pods, has both slices once a pod got a device of the later one.
	d.claim("seen", one(where(`device.attributes["gpu.example.com"].model == "other"`)))
	d.pod("seen", using("seen"))
	d.running("seen")
	for i, want := range []string{"node-2/a", "node-1/a node-1/b"} {
		name := []string{"first", "second"}[i]
		d.claim(name, resourcev1.DeviceRequest{Name: "r", FirstAvailable: []resourcev1.DeviceSubRequest{
			{Name: "large", DeviceClassName: "large"}, {Name: "two", DeviceClassName: "gpu", Count: 2},
		}})
		d.pod(name, using(name))
		d.running(name)
		if got := strings.Join(d.devices(name), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Devices of one claim have an attribute in common, if it demands that; and another one may take all devices of a node.
func TestConstraints(t *testing.T) {
	d := newDeviceEnv(t, 2)
	d.ready("node-1", "node-2")
	d.slice("node-1", device("a", "x", "8Gi"), device("b", "y", "8Gi"), device("c", "x", "8Gi"))
	d.slice("node-2", device("a", "x", "8Gi"), device("b", "y", "8Gi"))
	create(t, d.claims, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "equal"}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{one(count(2))}, Constraints: []resourcev1.DeviceConstraint{
			{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName("gpu.example.com/model"))}}}}})
	d.pod("equal", using("equal"))
	d.running("equal")
	if got := d.devices("equal"); !slices.Equal(got, []string{"node-1/a", "node-1/c"}) {
		t.Errorf("devices %v", got)
	}
	d.claim("all", one(func(r *resourcev1.ExactDeviceRequest) { r.AllocationMode = resourcev1.DeviceAllocationModeAll }))
	d.pod("all", using("all"))
	d.running("all")
	if got := d.devices("all"); !slices.Equal(got, []string{"node-2/a", "node-2/b"}) {
		t.Errorf("all devices: %v", got)
	}
}

// Admin access takes no device, and gets one that is taken.
func TestAdminAccess(t *testing.T) {
	d := newDeviceEnv(t, 1)
	d.ready("node-1")
	namespaces := client.For[*corev1.Namespace](d.client)
	if _, err := namespaces.Patch(t.Context(), "default", client.MergePatch(map[string]any{"metadata": map[string]any{
		"labels": map[string]string{"resource.kubernetes.io/admin-access": "true"}}})); err != nil {
		t.Fatal(err)
	}
	d.slice("node-1", device("a", "small", "8Gi"))
	d.claim("user", one())
	d.claim("monitor", one(func(r *resourcev1.ExactDeviceRequest) { r.AdminAccess = ptr.To(true) }))
	d.pod("user", using("user"))
	d.running("user")
	d.pod("monitor", using("monitor"))
	d.running("monitor")
	if err := d.pods.Delete(t.Context(), "user"); err != nil {
		t.Fatal(err)
	}
	d.claim("next", one())
	d.pod("next", using("next"))
	d.running("next")
}

// Partitions of a device share its counters.
func TestPartitions(t *testing.T) {
	d := newDeviceEnv(t, 1)
	d.ready("node-1")
	part := func(name, memory string) resourcev1.Device {
		p := device(name, "part", memory)
		p.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu-0", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse(memory)}}}}
		return p
	}
	devices := sliceOf("node-1", part("whole", "80Gi"), part("half-0", "40Gi"), part("half-1", "40Gi"))
	devices.Spec.Pool.ResourceSliceCount = 2
	create(t, d.slices, devices)
	counters := sliceOf("node-1")
	counters.Name = "node-1-counters"
	counters.Spec.Pool.ResourceSliceCount = 2
	counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "gpu-0", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse("80Gi")}}}}
	create(t, d.slices, counters)

	d.claim("half", one(where(`device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) == 0`)))
	d.pod("half", using("half"))
	d.running("half")
	d.claim("whole", one(where(`device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) == 0`)))
	d.pod("whole", using("whole"))
	d.held("whole", none(1, "cannot allocate all claims"))
	d.claim("other", one())
	d.pod("other", using("other"))
	d.running("other")
	if got := d.devices("other"); got[0] != "node-1/half-1" {
		t.Errorf("the rest is %v", got)
	}
	for _, name := range []string{"half", "other"} {
		if err := d.pods.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	d.running("whole")
}

// Several claims have shares of one device, up to its capacity.
func TestConsumableCapacity(t *testing.T) {
	d := newDeviceEnv(t, 1)
	d.ready("node-1")
	shared := device("a", "shared", "10Gi")
	shared.AllowMultipleAllocations = ptr.To(true)
	d.slice("node-1", shared)
	share := func(memory string) requestOption {
		return func(r *resourcev1.ExactDeviceRequest) {
			r.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(memory)}}
		}
	}
	for name, memory := range map[string]string{"first": "4Gi", "second": "6Gi"} {
		d.claim(name, one(share(memory)))
		d.pod(name, using(name))
		d.running(name)
	}
	d.claim("third", one(share("1Gi")))
	d.pod("third", using("third"))
	d.held("third", none(1, "cannot allocate all claims"))
	if err := d.pods.Delete(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	d.running("third")
	c, err := d.claims.Get(t.Context(), "second")
	if r := c.Status.Allocation.Devices.Results[0]; err != nil || r.ShareID == nil || ptr.To(r.ConsumedCapacity["memory"]).String() != "6Gi" {
		t.Errorf("result %+v, %v", r, err)
	}
}

// A taint of a slice, or of a rule, keeps claims off a device, unless they tolerate it.
func TestDeviceTaints(t *testing.T) {
	d := newPreparedDeviceEnv(t, 1, func(d *deviceEnv) {
		sick := device("a", "small", "8Gi")
		sick.Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
		d.slice("node-1", sick, device("b", "small", "8Gi"))
		create(t, d.rules, &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "repair"}, Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: ptr.To(driver), Device: ptr.To("b")},
			Taint:          resourcev1.DeviceTaint{Key: "repair", Effect: resourcev1.DeviceTaintEffectNoSchedule},
		}})
	})
	d.ready("node-1")
	d.claim("healthy", one())
	d.pod("healthy", using("healthy"))
	d.held("healthy", none(1, "cannot allocate all claims"))
	d.claim("tolerant", one(func(r *resourcev1.ExactDeviceRequest) {
		r.Tolerations = []resourcev1.DeviceToleration{{Key: "sick", Operator: resourcev1.DeviceTolerationOpExists}}
	}))
	d.pod("tolerant", using("tolerant"))
	d.running("tolerant")
	if got := d.devices("tolerant"); got[0] != "node-1/a" {
		t.Errorf("tolerant has %v", got)
	}
	if err := d.rules.Delete(t.Context(), "repair"); err != nil {
		t.Fatal(err)
	}
	d.running("healthy")
}

// Pods that share a claim are on its node, and each is in its reservations.
func TestSharedClaim(t *testing.T) {
	d := newDeviceEnv(t, 3)
	d.ready("node-1", "node-2", "node-3")
	d.slice("node-2", device("a", "small", "8Gi"))
	d.claim("shared", one())
	names := []string{"first", "second", "third"}
	for _, name := range names {
		d.pod(name, using("shared"))
	}
	for _, name := range names {
		if p := d.running(name); p.Spec.NodeName != "node-2" {
			t.Errorf("%s on %s", name, p.Spec.NodeName)
		}
	}
	c, err := d.claims.Get(t.Context(), "shared")
	if err != nil || len(c.Status.ReservedFor) != 3 {
		t.Errorf("reserved for %+v, %v", c.Status.ReservedFor, err)
	}
	d.pod("elsewhere", using("shared"), onNode("node-1"))
	d.held("elsewhere", "0/3 nodes are available: 1 resourceclaim not available on the node, 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
}

// An idle claim is freed for a pod that cannot go where it is.
func TestDeallocation(t *testing.T) {
	d := newDeviceEnv(t, 2)
	d.ready("node-1", "node-2")
	d.slice("node-1", device("a", "small", "8Gi"))
	d.slice("node-2", device("a", "small", "8Gi"))
	d.claim("moving", one(where(`true`)))
	c, err := d.claims.Get(t.Context(), "moving")
	if err != nil {
		t.Fatal(err)
	}
	c.Finalizers = append(c.Finalizers, resourcev1.Finalizer)
	if c, err = d.claims.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.Status.Allocation = &resourcev1.AllocationResult{
		Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: driver, Pool: "node-1", Device: "a"}}},
		NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"node-1"}}}}}},
	}
	if _, err = d.claims.UpdateStatus(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	d.pod("mover", using("moving"), onNode("node-2"))
	d.running("mover")
	if got := d.devices("moving"); got[0] != "node-2/a" {
		t.Errorf("devices %v", got)
	}
}

// A pod runs without a claim once its status reports that none is needed.
func TestNoClaimNeeded(t *testing.T) {
	d := newDeviceEnv(t, 1)
	d.pod("web", templated("missing"))
	d.pod("probe") // which the scheduler learns of after the first pod
	d.running("probe")
	web, err := d.pods.Get(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	web.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "missing"}}
	if _, err := d.pods.UpdateStatus(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	d.running("web")
}

// An extended resource that a class offers is met by devices, for which the scheduler makes a claim.
func TestExtendedResource(t *testing.T) {
	d := newDeviceEnv(t, 2)
	d.ready("node-1", "node-2")
	d.slice("node-2", device("a", "small", "8Gi"), device("b", "small", "8Gi"), device("c", "small", "8Gi"))
	asking := func(n string) podOption {
		return func(p *corev1.Pod) {
			of := &p.Spec.Containers[0].Resources
			of.Requests["example.com/gpu"] = resource.MustParse(n)
			of.Limits = corev1.ResourceList{"example.com/gpu": resource.MustParse(n)}
		}
	}
	d.pod("first", asking("2"))
	d.held("first", none(2, "Insufficient example.com/gpu"))
	d.class("offered", `device.driver == "gpu.example.com"`, func(c *resourcev1.DeviceClass) { c.Spec.ExtendedResourceName = ptr.To("example.com/gpu") })
	first := d.running("first")
	status := first.Status.ExtendedResourceClaimStatus
	if status == nil || first.Spec.NodeName != "node-2" {
		t.Fatalf("on %s with %+v", first.Spec.NodeName, status)
	}
	if len(status.RequestMappings) != 1 || status.RequestMappings[0] != (corev1.ContainerExtendedResourceRequest{ContainerName: "c", ResourceName: "example.com/gpu", RequestName: "container-0-request-1"}) {
		t.Errorf("mappings %+v", status.RequestMappings)
	}
	if got := d.devices(status.ResourceClaimName); !slices.Equal(got, []string{"node-2/a", "node-2/b"}) {
		t.Errorf("devices %v", got)
	}
	d.pod("second", asking("2"))
	d.held("second", none(2, "cannot allocate all claims"))
	if err := d.pods.Delete(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	d.running("second")
}
