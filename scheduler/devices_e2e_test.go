package scheduler_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

const driver = "gpu.example.com"

// deviceEnv is a control plane with nodes, devices and claims.
type deviceEnv struct {
	*testing.T
	client    *client.Client
	pods      client.Resource[*corev1.Pod]
	nodes     client.Resource[*corev1.Node]
	claims    client.Resource[*resourcev1.ResourceClaim]
	templates client.Resource[*resourcev1.ResourceClaimTemplate]
	slices    client.Resource[*resourcev1.ResourceSlice]
	classes   client.Resource[*resourcev1.DeviceClass]
	rules     client.Resource[*resourcev1.DeviceTaintRule]
	events    client.Resource[*corev1.Event]
}

// newDeviceEnv starts a control plane with that many nodes, and creates the class "gpu" of all devices of the driver.
func newDeviceEnv(t *testing.T, nodes int) *deviceEnv {
	t.Helper()
	d := devicesOf(t, testenv.New(t, deviceOptions(nodes)))
	d.class("gpu", fmt.Sprintf("device.driver == %q", driver))
	return d
}

// newPreparedDeviceEnv is newDeviceEnv, with objects that exist before the scheduler starts: it reads kinds by watches of their own,
// so that it may see a pod before an object that was created earlier.
func newPreparedDeviceEnv(t *testing.T, nodes int, prepare func(*deviceEnv)) *deviceEnv {
	t.Helper()
	base, err := testenv.Prepare(t.Context(), deviceOptions(nodes), func(env *testenv.Env) error {
		d := devicesOf(t, env)
		d.class("gpu", fmt.Sprintf("device.driver == %q", driver))
		prepare(d)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close() })
	return devicesOf(t, base.Fork(t))
}

func deviceOptions(nodes int) testenv.Options {
	return testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle", "resourceclaim", "garbagecollector"}, Nodes: nodes}
}

// devicesOf returns the clients of a control plane, whose default service account exists.
func devicesOf(t *testing.T, env *testenv.Env) *deviceEnv {
	t.Helper()
	c := env.Client(t)
	account(t, c)
	return &deviceEnv{
		T: t, client: c, pods: client.For[*corev1.Pod](c).Namespace("default"), nodes: client.For[*corev1.Node](c),
		claims:    client.For[*resourcev1.ResourceClaim](c).Namespace("default"),
		templates: client.For[*resourcev1.ResourceClaimTemplate](c).Namespace("default"),
		slices:    client.For[*resourcev1.ResourceSlice](c), classes: client.For[*resourcev1.DeviceClass](c),
		rules: client.For[*resourcev1.DeviceTaintRule](c), events: client.For[*corev1.Event](c).Namespace("default"),
	}
}

func create[T client.Object](t *testing.T, of client.Resource[T], o T) T {
	t.Helper()
	made, err := of.Create(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (d *deviceEnv) class(name, expression string, options ...func(*resourcev1.DeviceClass)) {
	d.Helper()
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}},
	}}
	for _, o := range options {
		o(c)
	}
	create(d.T, d.classes, c)
}

// slice creates the only slice of the pool of a node.
func (d *deviceEnv) slice(node string, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	d.Helper()
	return create(d.T, d.slices, sliceOf(node, devices...))
}

func sliceOf(node string, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}, Devices: devices,
	}}
}

// device returns a device with the attribute "model" and a capacity "memory".
func device(name, model, memory string) resourcev1.Device {
	return resourcev1.Device{
		Name:       name,
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}},
		Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(memory)}},
	}
}

type requestOption func(*resourcev1.ExactDeviceRequest)

// one asks for a device of class "gpu" for which all expressions hold.
func one(options ...requestOption) resourcev1.DeviceRequest {
	r := resourcev1.DeviceRequest{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}
	for _, o := range options {
		o(r.Exactly)
	}
	return r
}

func where(expression string) requestOption {
	return func(r *resourcev1.ExactDeviceRequest) {
		r.Selectors = append(r.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}})
	}
}

func count(n int64) requestOption { return func(r *resourcev1.ExactDeviceRequest) { r.Count = n } }

func specOf(requests ...resourcev1.DeviceRequest) resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: requests}}
}

func (d *deviceEnv) claim(name string, requests ...resourcev1.DeviceRequest) {
	d.Helper()
	create(d.T, d.claims, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: specOf(requests...)})
}

func (d *deviceEnv) template(name string, requests ...resourcev1.DeviceRequest) {
	d.Helper()
	create(d.T, d.templates, &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: specOf(requests...)}})
}

type podOption func(*corev1.Pod)

// using lets a pod use a claim.
func using(claim string) podOption {
	return func(p *corev1.Pod) { useClaim(p, corev1.PodResourceClaim{Name: claim, ResourceClaimName: &claim}) }
}

// templated lets a pod use a claim of its own from a template.
func templated(template string) podOption {
	return func(p *corev1.Pod) {
		useClaim(p, corev1.PodResourceClaim{Name: template, ResourceClaimTemplateName: &template})
	}
}

func useClaim(p *corev1.Pod, c corev1.PodResourceClaim) {
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, c)
	of := &p.Spec.Containers[0].Resources
	of.Claims = append(of.Claims, corev1.ResourceClaim{Name: c.Name})
}

func onNode(name string) podOption {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: name} }
}

func (d *deviceEnv) pod(name string, options ...podOption) {
	d.Helper()
	p := pod(name, "100m")
	p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(0))
	for _, o := range options {
		o(p)
	}
	create(d.T, d.pods, p)
}

func (d *deviceEnv) running(name string) *corev1.Pod {
	d.Helper()
	return await(d.T, d.pods, name, "running", running)
}

func (d *deviceEnv) held(name, message string) {
	d.Helper()
	held(d.T, d.pods, name, message)
}

// ready waits until pods can go to the nodes.
func (d *deviceEnv) ready(nodes ...string) {
	d.Helper()
	for _, n := range nodes {
		d.pod("ready-"+n, onNode(n))
		d.running("ready-" + n)
	}
}

// devices waits until a claim is allocated and returns its devices as pool/device.
func (d *deviceEnv) devices(claim string) (all []string) {
	d.Helper()
	c := await(d.T, d.claims, claim, "allocated", func(c *resourcev1.ResourceClaim) bool { return c.Status.Allocation != nil })
	for _, r := range c.Status.Allocation.Devices.Results {
		all = append(all, r.Pool+"/"+r.Device)
	}
	return all
}

const notHelpful = " preemption: 0/%[1]d nodes are available: %[1]d Preemption is not helpful for scheduling."

func none(nodes int, reason string) string {
	return fmt.Sprintf("0/%[1]d nodes are available: %[1]d "+reason+"."+notHelpful, nodes)
}

// A pod goes where a device meets the selectors of class and claim; one that fits nowhere waits for a slice, and one
// whose devices are taken waits for them.
func TestDevicesOfNodes(t *testing.T) {
	d := newDeviceEnv(t, 3)
	d.ready("node-1", "node-2", "node-3")
	d.slice("node-1", device("a", "small", "8Gi"))
	d.template("large", one(where(`device.attributes["gpu.example.com"].model == "large"`),
		where(`device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`)))
	d.pod("first", templated("large"))
	d.held("first", none(3, "cannot allocate all claims"))
	d.slice("node-2", device("a", "large", "16Gi"), device("b", "large", "80Gi"))
	first := d.running("first")
	name := *first.Status.ResourceClaimStatuses[0].ResourceClaimName
	if got := d.devices(name); first.Spec.NodeName != "node-2" || got[0] != "node-2/b" {
		t.Errorf("on %s with %v", first.Spec.NodeName, got)
	}
	claim, err := d.claims.Get(t.Context(), name)
	if err != nil || len(claim.Status.ReservedFor) != 1 || claim.Status.ReservedFor[0].UID != first.UID || len(claim.Finalizers) != 1 ||
		claim.Status.Allocation.NodeSelector == nil || claim.Status.Allocation.AllocationTimestamp == nil {
		t.Errorf("claim %+v, %v", claim, err)
	}
	d.pod("second", templated("large"))
	d.held("second", none(3, "cannot allocate all claims"))
	if err := d.pods.Delete(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if second := d.running("second"); second.Spec.NodeName != "node-2" {
		t.Errorf("second on %s", second.Spec.NodeName)
	}
}
