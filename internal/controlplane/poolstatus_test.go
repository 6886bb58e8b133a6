package controlplane_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/trace"
)

// poolStatusAPI is the API with ResourcePoolStatusRequests, and other features.
func poolStatusAPI(t *testing.T, others ...string) gates.API {
	t.Helper()
	all, err := gates.New(version.MustParse(gates.Newest))
	if err == nil {
		err = all.Set(strings.Join(append(others, "DRAResourcePoolStatus=true"), ","))
	}
	if err != nil {
		t.Fatal(err)
	}
	return gates.API{Gates: all, Asked: []schema.GroupVersionResource{resourcev1alpha3.SchemeGroupVersion.WithResource("resourcepoolstatusrequests")}}
}

// pools is a control plane with devices of the driver gpu.example.com.
type pools struct {
	*testing.T
	*kubernetes.Clientset
	ctx context.Context
}

// startPools starts a control plane without controllers. run starts it again with the one that answers, which then knows all devices
// from its beginning: otherwise a request can be answered before the last devices are known.
func startPools(t *testing.T, api gates.API) (p *pools, run func() *controlplane.ControlPlane) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	o := controlplane.Options{API: api, DataDir: t.TempDir(), Trace: trace.New(trace.Options{})}
	first := controlplanetest.Start(t, o)
	p = &pools{t, controlplanetest.Clientset(t, first), ctx}
	return p, func() *controlplane.ControlPlane {
		if err := first.Stop(); err != nil {
			t.Fatal(err)
		}
		o.Controllers = []string{"resourcepoolstatusrequest"}
		cp := controlplanetest.Start(t, o)
		p.Clientset = controlplanetest.Clientset(t, cp)
		return cp
	}
}

// slice publishes a slice of a pool.
func (p *pools) slice(name, pool, node string, generation, of int64, devices ...resourcev1.Device) {
	p.Helper()
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", Pool: resourcev1.ResourcePool{Name: pool, Generation: generation, ResourceSliceCount: of}, Devices: devices,
	}}
	if s.Spec.NodeName = &node; node == "" {
		s.Spec.NodeName, s.Spec.AllNodes = nil, ptr.To(true)
	}
	if _, err := p.ResourceV1().ResourceSlices().Create(p.ctx, s, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}

// allocate makes a claim that has devices of a pool.
func (p *pools) allocate(name string, results ...resourcev1.DeviceRequestAllocationResult) {
	p.Helper()
	claims := p.ResourceV1().ResourceClaims("default")
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for i := range results {
		results[i].Driver = "gpu.example.com"
		request := resourcev1.DeviceRequest{Name: results[i].Request, Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}
		if c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, request); ptr.Deref(results[i].AdminAccess, false) {
			c.Spec.Devices.Requests[i].Exactly.AdminAccess = ptr.To(true)
		}
	}
	c, err := claims.Create(p.ctx, c, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: results}}
	if _, err := claims.UpdateStatus(p.ctx, c, metav1.UpdateOptions{}); err != nil {
		p.Fatal(err)
	}
}

func (p *pools) ask(name string, spec resourcev1alpha3.ResourcePoolStatusRequestSpec) (*resourcev1alpha3.ResourcePoolStatusRequest, error) {
	r := &resourcev1alpha3.ResourcePoolStatusRequest{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	return p.ResourceV1alpha3().ResourcePoolStatusRequests().Create(p.ctx, r, metav1.CreateOptions{})
}

// answered waits for the status of a request.
func (p *pools) answered(name string) *resourcev1alpha3.ResourcePoolStatusRequest {
	p.Helper()
	requests := p.ResourceV1alpha3().ResourcePoolStatusRequests()
	w, err := requests.Watch(p.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: "0"})
	if err != nil {
		p.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if r, ok := e.Object.(*resourcev1alpha3.ResourcePoolStatusRequest); ok && r.Status != nil {
			return r
		}
	}
	p.Fatalf("%s was not answered", name)
	return nil
}

func counts(s resourcev1alpha3.PoolStatus) [5]int32 {
	return [5]int32{ptr.Deref(s.ResourceSliceCount, -1), ptr.Deref(s.TotalDevices, -1), ptr.Deref(s.AllocatedDevices, -1), ptr.Deref(s.UnavailableDevices, -1), ptr.Deref(s.AvailableDevices, -1)}
}

// TestResourcePoolStatus asks for the state of pools of devices: some allocated, some tainted, some shared.
func TestResourcePoolStatus(t *testing.T) {
	p, run := startPools(t, poolStatusAPI(t))
	ctx := p.ctx
	device := func(name string, effects ...resourcev1.DeviceTaintEffect) resourcev1.Device {
		d := resourcev1.Device{Name: name}
		for _, e := range effects {
			d.Taints = append(d.Taints, resourcev1.DeviceTaint{Key: "example.com/broken", Effect: e})
		}
		return d
	}
	p.slice("old", "node-a", "a", 1, 1, device("gone-0"), device("gone-1"))
	p.slice("a-0", "node-a", "a", 2, 2, device("gpu-0"), device("gpu-1"), device("gpu-2", resourcev1.DeviceTaintEffectNoSchedule))
	p.slice("a-1", "node-a", "a", 2, 2, device("gpu-3"), device("gpu-4", resourcev1.DeviceTaintEffectNone), device("gpu-5"))
	memory := resource.MustParse("80Gi")
	shared := resourcev1.Device{Name: "nic-0", AllowMultipleAllocations: ptr.To(true), Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: memory}}}
	free := *shared.DeepCopy()
	free.Name = "nic-1"
	p.slice("shared", "shared", "", 1, 1, shared, free)
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "repair"}, Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: ptr.To("gpu.example.com"), Device: ptr.To("gpu-3")},
		Taint:          resourcev1.DeviceTaint{Key: "example.com/repair", Effect: resourcev1.DeviceTaintEffectNoExecute},
	}}
	if _, err := p.ResourceV1().DeviceTaintRules().Create(ctx, rule, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.allocate("one", resourcev1.DeviceRequestAllocationResult{Request: "r", Pool: "node-a", Device: "gpu-0"})
	for _, name := range []string{"left", "right"} {
		p.allocate(name, resourcev1.DeviceRequestAllocationResult{
			Request: "r", Pool: "shared", Device: "nic-0", ShareID: ptr.To(shareIDs[name]),
			ConsumedCapacity: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("10Gi")},
		})
	}

	cp := run()
	if _, err := p.ask("a", resourcev1alpha3.ResourcePoolStatusRequestSpec{Driver: "gpu.example.com", PoolName: ptr.To("node-a")}); err != nil {
		t.Fatal(err)
	}
	a := p.answered("a")
	if *a.Spec.Limit != 100 || *a.Status.PoolCount != 1 || len(a.Status.Pools) != 1 {
		t.Fatalf("a: %+v", a)
	}
	if s := a.Status.Pools[0]; s.PoolName != "node-a" || s.Generation != 2 || ptr.Deref(s.NodeName, "") != "a" || counts(s) != [5]int32{2, 6, 1, 2, 3} || s.ShareableSummary != nil {
		t.Errorf("slices, devices, allocated, unavailable, available: %v of %+v", counts(s), s)
	}
	if c := a.Status.Conditions; len(c) != 1 || c[0].Type != "Complete" || c[0].Reason != "CalculationComplete" || c[0].Message != "Calculated status for 1 pools" {
		t.Errorf("conditions: %+v", c)
	}

	// While slices are missing, a request for all pools is tried six times, and again when it is changed.
	p.slice("z-0", "z", "z", 1, 2, device("gpu-0"))
	if _, err := p.ask("all", resourcev1alpha3.ResourcePoolStatusRequestSpec{Driver: "gpu.example.com"}); err != nil {
		t.Fatal(err)
	}
	get := controlplanetest.Getter(t, cp.Config())
	awaitMetric(t, get, `workqueue_retries_total{name="resourcepoolstatusrequest"} 5`+"\n")
	// It waits for its expiry then, as the answered one does.
	awaitMetric(t, get, `controller_runtime_reconcile_total{controller="resourcepoolstatusrequest",result="requeue_after"} 2`+"\n")
	p.slice("z-1", "z", "z", 1, 2, device("gpu-1"))
	if _, err := p.ask("two", resourcev1alpha3.ResourcePoolStatusRequestSpec{Driver: "gpu.example.com", Limit: ptr.To(int32(2))}); err != nil {
		t.Fatal(err)
	}
	if s := p.answered("two").Status; *s.PoolCount != 3 || len(s.Pools) != 2 || s.Pools[0].PoolName != "node-a" || s.Pools[1].PoolName != "shared" {
		t.Errorf("two of three pools: %+v", s)
	}
	r, err := p.ResourceV1alpha3().ResourcePoolStatusRequests().Get(ctx, "all", metav1.GetOptions{})
	if err != nil || r.Status != nil {
		t.Fatalf("given up: %+v, %v", r.Status, err)
	}
	r.Labels = map[string]string{"again": "true"}
	if _, err := p.ResourceV1alpha3().ResourcePoolStatusRequests().Update(ctx, r, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	all := p.answered("all").Status
	if *all.PoolCount != 3 || counts(all.Pools[2]) != [5]int32{2, 2, 0, 0, 2} {
		t.Errorf("all: %+v", all)
	}
	sum := all.Pools[1].ShareableSummary
	if sum == nil || *sum.FullyAvailableDevices != 1 || *sum.PartiallyAvailableDevices != 1 || len(sum.Capacity) != 1 {
		t.Fatalf("shared devices: %+v", sum)
	}
	if c := sum.Capacity[0]; c.Name != "memory" || c.Total.String() != "160Gi" || c.Consumed.String() != "20Gi" || c.Available.String() != "140Gi" || all.Pools[1].NodeName != nil {
		t.Errorf("shared capacity: %+v", c)
	}
	p.refused(a)

	for _, family := range []string{"requests_processed_total", "request_processing_duration_seconds_count"} {
		awaitMetric(t, get, `resourcepoolstatusrequest_controller_`+family+`{driver_name="gpu.example.com"} 3`+"\n")
	}
	if _, text := get("/metrics"); strings.Contains(text, "request_processing_errors_total") {
		t.Error("errors are counted without any")
	}
	p.failToAnswer()
	awaitMetric(t, get, `resourcepoolstatusrequest_controller_request_processing_errors_total{driver_name="none.example.com"} `)
}

// failToAnswer refuses the answers about a driver, and asks for one.
func (p *pools) failToAnswer() {
	p.Helper()
	if _, err := p.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(p.ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "answers"}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update}, Rule: admissionv1.Rule{APIGroups: []string{"resource.k8s.io"}, APIVersions: []string{"*"}, Resources: []string{"resourcepoolstatusrequests/status"}}}}}},
			Validations: []admissionv1.Validation{{Expression: "object.spec.driver != 'none.example.com'"}},
		},
	}, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	if _, err := p.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(p.ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "answers"},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "answers", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	if _, err := p.ask("none", resourcev1alpha3.ResourcePoolStatusRequestSpec{Driver: "none.example.com"}); err != nil {
		p.Fatal(err)
	}
}

// awaitMetric waits until the server has a sample that begins so.
func awaitMetric(t *testing.T, get func(string, ...string) (int, string), sample string) {
	t.Helper()
	family, _, _ := strings.Cut(sample, "{")
	for end := time.Now().Add(90 * time.Second); ; {
		_, text := get("/metrics")
		if strings.Contains(text, "\n"+sample) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("there is no %s but %s", sample, regexp.MustCompile(`(?m)^`+family+`\{.*`).FindAllString(text, -1))
		}
	}
}

// shareIDs are those of the claims that share a device.
var shareIDs = map[string]types.UID{"left": "00000000-0000-4000-8000-000000000001", "right": "00000000-0000-4000-8000-000000000002"}

// refused tries what a request does not allow.
func (p *pools) refused(answered *resourcev1alpha3.ResourcePoolStatusRequest) {
	p.Helper()
	requests := p.ResourceV1alpha3().ResourcePoolStatusRequests()
	for message, spec := range map[string]resourcev1alpha3.ResourcePoolStatusRequestSpec{
		"spec.driver: Required value":                                         {},
		"spec.driver: Invalid value":                                          {Driver: "no_driver"},
		"spec.limit: Invalid value: 0: must be greater than or equal to 1":    {Driver: "d", Limit: ptr.To(int32(0))},
		"spec.limit: Invalid value: 1001: must be less than or equal to 1000": {Driver: "d", Limit: ptr.To(int32(1001))},
		"spec.poolName: ": {Driver: "d", PoolName: ptr.To("a//b")},
	} {
		if _, err := p.ask("refused", spec); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), message) {
			p.Errorf("%+v: %v, want %s", spec, err, message)
		}
	}
	changed := answered.DeepCopy()
	changed.Spec.Driver = "other.example.com"
	if _, err := requests.Update(p.ctx, changed, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "field is immutable") {
		p.Errorf("another driver: %v", err)
	}
	changed = answered.DeepCopy()
	changed.Status.PoolCount = ptr.To(int32(7))
	if _, err := requests.UpdateStatus(p.ctx, changed, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "field is immutable") {
		p.Errorf("another status: %v", err)
	}
}

// TestResourcePoolStatusInAnotherProcess: controllers by themselves learn from the server that it has requests.
func TestResourcePoolStatusInAnotherProcess(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{API: poolStatusAPI(t)})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	p := &pools{t, controlplanetest.Clientset(t, cp), ctx}
	p.slice("a", "a", "a", 1, 1, resourcev1.Device{Name: "gpu-0"}) // known from their beginning
	ended := make(chan error, 1)
	go func() {
		ended <- controlplane.RunControllers(ctx, cp.Config(), controlplane.ControllerOptions{List: []string{"resourcepoolstatusrequest"}}, controlplane.Apart{})
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	if _, err := p.ask("a", resourcev1alpha3.ResourcePoolStatusRequestSpec{Driver: "gpu.example.com"}); err != nil {
		t.Fatal(err)
	}
	if s := p.answered("a").Status; len(s.Pools) != 1 || counts(s.Pools[0]) != [5]int32{1, 1, 0, 0, 1} {
		t.Errorf("status: %+v", s)
	}
}

// TestResourcePoolStatusGate: the kind is served only with its feature gate, even if its version is asked for.
func TestResourcePoolStatusGate(t *testing.T) {
	api := poolStatusAPI(t)
	api.Gates = nil
	cp := controlplanetest.Start(t, controlplane.Options{API: api})
	_, err := controlplanetest.Clientset(t, cp).ResourceV1alpha3().ResourcePoolStatusRequests().List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("without the gate: %v", err)
	}
}

// TestPartitionTypes asks for the partitions of pools by their type, which the slice names, or the request, or neither.
func TestPartitionTypes(t *testing.T) {
	p, run := startPools(t, poolStatusAPI(t, "DRAPartitionableDevicesType=true"))
	ctx := p.ctx
	const profile, driver = "gpu.example.com/profile", "gpu.example.com"
	partition := func(name, attribute, value, memory string) resourcev1.Device {
		return resourcev1.Device{
			Name:       name,
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{resourcev1.QualifiedName(attribute): {StringValue: &value}},
			ConsumesCounters: []resourcev1.DeviceCounterConsumption{{
				CounterSet: "gpu-0", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse(memory)}},
			}},
		}
	}
	publish := func(pool string, attribute *resourcev1.FullyQualifiedName, counters bool, devices ...resourcev1.Device) error {
		of := int64(1)
		if counters {
			of = 2
			s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: pool + "-counters"}, Spec: resourcev1.ResourceSliceSpec{
				Driver: driver, Pool: resourcev1.ResourcePool{Name: pool, Generation: 1, ResourceSliceCount: of}, AllNodes: ptr.To(true),
				SharedCounters: []resourcev1.CounterSet{{Name: "gpu-0", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse("40Gi")}}}},
			}}
			if _, err := p.ResourceV1().ResourceSlices().Create(ctx, s, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: pool}, Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, Pool: resourcev1.ResourcePool{Name: pool, Generation: 1, ResourceSliceCount: of}, AllNodes: ptr.To(true),
			PartitionTypeAttribute: attribute, Devices: devices,
		}}
		_, err := p.ResourceV1().ResourceSlices().Create(ctx, s, metav1.CreateOptions{})
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	named := ptr.To(resourcev1.FullyQualifiedName(profile))
	for name, devices := range map[string][]resourcev1.Device{
		"may only be set on a slice which declares devices that consume counters": {{Name: "whole"}},
		"devices[0].attributes[" + profile + "]: Required":                        {partition("a", "other.example.com/profile", "1g", "10Gi")},
	} {
		if err := publish("refused", named, false, devices...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q: %v", name, err)
		}
	}
	bare := ptr.To(resourcev1.FullyQualifiedName("profile"))
	if err := publish("refused", bare, false, partition("a", "profile", "1g", "10Gi")); err == nil || !strings.Contains(err.Error(), "a fully qualified name must be a domain and a name separated by a slash") {
		t.Errorf("an attribute without a domain: %v", err)
	}

	mixed := []resourcev1.Device{
		partition("small-0", "profile", "1g", "10Gi"), partition("small-1", "profile", "1g", "10Gi"), partition("small-2", "profile", "1g", "10Gi"),
		partition("large-0", profile, "4g", "40Gi"), partition("half-0", profile, "2g", "20Gi"), {Name: "nic"},
	}
	must(publish("named", named, true, mixed...))
	must(publish("unnamed", nil, true, mixed...))
	must(publish("uneven", named, true, partition("a", profile, "1g", "10Gi"), partition("b", profile, "1g", "20Gi")))
	must(publish("countless", named, false, partition("a", profile, "1g", "10Gi")))
	p.allocate("one", resourcev1.DeviceRequestAllocationResult{Request: "r", Pool: "named", Device: "small-0"})
	run()
	for name, fallback := range map[string]*string{"plain": nil, "fallback": ptr.To(profile)} {
		if _, err := p.ask(name, resourcev1alpha3.ResourcePoolStatusRequestSpec{Driver: driver, DefaultPartitionTypeAttribute: fallback}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.ask("bad", resourcev1alpha3.ResourcePoolStatusRequestSpec{Driver: driver, DefaultPartitionTypeAttribute: ptr.To("profile")}); !apierrors.IsInvalid(err) {
		t.Errorf("a request that names an attribute without its domain: %v", err)
	}
	for request, want := range map[string]map[string]string{
		"plain": {
			"named":     "1g:3/2 2g:1/1 4g:1/0",
			"unnamed":   "",
			"uneven":    "PartitionCostMismatch",
			"countless": "PartitionTypeMissing",
		},
		"fallback": {
			"named":     "1g:3/2 2g:1/1 4g:1/0",
			"unnamed":   "1g:3/3 2g:1/1 4g:1/1",
			"uneven":    "PartitionCostMismatch",
			"countless": "PartitionTypeMissing",
		},
	} {
		got := map[string]string{}
		for _, s := range p.answered(request).Status.Pools {
			var parts []string
			for _, of := range s.PartitionSummary {
				parts = append(parts, fmt.Sprintf("%s:%d/%d", of.Type, *of.Total, *of.Allocatable))
			}
			reason, _, _ := strings.Cut(ptr.Deref(s.ValidationError, ""), ":")
			got[s.PoolName] = strings.Join(parts, " ") + reason
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: the pools have %v, want %v", request, got, want)
		}
	}
}
