package devicetainteviction_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// cluster has the objects of a control plane in a bubble. It plays the scheduler and the drivers of devices. There is no
// kubelet, so that deleted pods stay.
type cluster struct {
	*testing.T
	env        *testenv.Env
	pods       client.Resource[*corev1.Pod]
	claims     client.Resource[*resourcev1.ResourceClaim]
	slices     client.Resource[*resourcev1.ResourceSlice]
	rules      client.Resource[*resourcev1.DeviceTaintRule]
	namespaces client.Resource[*corev1.Namespace]
	events     client.Resource[*corev1.Event]
}

func run(t *testing.T, test func(cluster)) {
	synctest.Test(t, func(t *testing.T) {
		env := testenv.New(t, testenv.Options{Bubble: true, NoNodes: true, NoScheduler: true, Controllers: []string{"devicetainteviction", "serviceaccount"}})
		api := env.Client(t)
		c := cluster{t, env, client.For[*corev1.Pod](api).Namespace("default"), client.For[*resourcev1.ResourceClaim](api).Namespace("default"),
			client.For[*resourcev1.ResourceSlice](api), client.For[*resourcev1.DeviceTaintRule](api), client.For[*corev1.Namespace](api), client.For[*corev1.Event](api)}
		c.account(client.For[*corev1.ServiceAccount](api), "default")
		c.must(c.namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}))
		c.account(client.For[*corev1.ServiceAccount](api), "other")
		test(c)
	})
}

func (c cluster) account(accounts client.Resource[*corev1.ServiceAccount], namespace string) {
	c.Helper()
	waittest.One(c, accounts.Namespace(namespace), "default", "the account of pods", func(*corev1.ServiceAccount) bool { return true })
}

func (c cluster) must(_ any, err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// in returns the cluster with another namespace of pods and claims.
func (c cluster) in(namespace string) cluster {
	c.pods, c.claims = c.pods.Namespace(namespace), c.claims.Namespace(namespace)
	return c
}

// pod creates a pod on a node with claims in its spec.
func (c cluster) pod(name, node string, claims ...string) *corev1.Pod {
	c.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "c"}}}}
	for _, claim := range claims {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: claim, ResourceClaimName: ptr.To(claim)})
	}
	p, err := c.pods.Create(c.Context(), p)
	c.must(p, err)
	return p
}

// device is a device allocated to a claim, with the tolerations of the request.
type device struct {
	name        string
	tolerations []resourcev1.DeviceToleration
}

// claim creates a claim that has devices and is reserved for pods.
func (c cluster) claim(name string, devices []device, pods ...*corev1.Pod) {
	c.Helper()
	claim, err := c.claims.Create(c.Context(), &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}},
	}})
	c.must(claim, err)
	c.allocate(claim, devices, pods...)
}

func (c cluster) allocate(claim *resourcev1.ResourceClaim, devices []device, pods ...*corev1.Pod) {
	c.Helper()
	claim = claim.DeepCopy()
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	for _, d := range devices {
		claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: "r", Driver: "gpu.example.com", Pool: "pool", Device: d.name, Tolerations: d.tolerations})
	}
	for _, p := range pods {
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: p.Name, UID: p.UID})
	}
	c.must(c.claims.UpdateStatus(c.Context(), claim))
}

// user creates a pod on a node, and its claim of the same name with a device.
func (c cluster) user(name, of string, tolerations ...resourcev1.DeviceToleration) *corev1.Pod {
	c.Helper()
	p := c.pod(name, "node", name)
	c.claim(name, []device{{of, tolerations}}, p)
	return p
}

// publish creates or replaces a slice of the pool with devices that have taints, such as gpu-1=NoExecute.
func (c cluster) publish(name string, generation int64, devices ...string) {
	c.Helper()
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: ptr.To("node"), Pool: resourcev1.ResourcePool{Name: "pool", Generation: generation, ResourceSliceCount: 1},
	}}
	for _, text := range devices {
		d, effect, tainted := strings.Cut(text, "=")
		x := resourcev1.Device{Name: d}
		if tainted {
			x.Taints = []resourcev1.DeviceTaint{{Key: "example.com/broken", Value: "yes", Effect: resourcev1.DeviceTaintEffect(effect)}}
		}
		s.Spec.Devices = append(s.Spec.Devices, x)
	}
	if old, err := c.slices.Get(c.Context(), name); err == nil {
		s.ResourceVersion = old.ResourceVersion
		c.must(c.slices.Update(c.Context(), s))
		return
	}
	c.must(c.slices.Create(c.Context(), s))
}

// rule creates a rule that taints a device of the pool, or all if device is "".
func (c cluster) rule(name, device string, effect resourcev1.DeviceTaintEffect) {
	c.Helper()
	time.Sleep(time.Second) // the controller has seen the other objects
	s := &resourcev1.DeviceTaintSelector{Driver: ptr.To("gpu.example.com"), Pool: ptr.To("pool")}
	if device != "" {
		s.Device = &device
	}
	c.must(c.rules.Create(c.Context(), &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: s, Taint: resourcev1.DeviceTaint{Key: "example.com/broken", Value: "yes", Effect: effect},
	}}))
}

func (c cluster) changeRule(name string, spec map[string]any) {
	c.Helper()
	c.must(c.rules.Patch(c.Context(), name, client.MergePatch(map[string]any{"spec": spec})))
}

// evicted checks, once all is quiet, which pods of the namespace have been evicted.
func (c cluster) evicted(want ...string) {
	c.Helper()
	time.Sleep(time.Second) // for retries
	synctest.Wait()
	list, err := c.pods.List(c.Context(), metav1.ListOptions{})
	c.must(list, err)
	have := map[string]bool{}
	for _, p := range list.Items {
		x := condition.OfPod(&p.Status, corev1.DisruptionTarget)
		if (x != nil) != (p.DeletionTimestamp != nil) {
			c.Errorf("%s: %v, deleted at %v", p.Name, x, p.DeletionTimestamp)
		}
		if x == nil {
			continue
		}
		have[p.Name] = true
		if x.Status != corev1.ConditionTrue || x.Reason != "DeletionByDeviceTaintManager" || x.Message != "Device Taint manager: deleting due to NoExecute taint" || x.LastTransitionTime.IsZero() {
			c.Errorf("%s: %+v", p.Name, x)
		}
	}
	for _, name := range want {
		if !have[name] {
			c.Errorf("%s is not evicted", name)
		}
		delete(have, name)
	}
	if len(have) > 0 {
		c.Errorf("%v are evicted", have)
	}
}

// told returns how many events there are about pods with a message.
func (c cluster) told(message string) (n int) {
	c.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	list, err := c.events.List(c.Context(), metav1.ListOptions{})
	c.must(list, err)
	for _, e := range list.Items {
		if e.InvolvedObject.Kind == "Pod" && e.Reason == "DeviceTaintManagerEviction" && e.Message == message && e.Type == corev1.EventTypeNormal &&
			e.Source.Component == "device-taint-eviction-controller" {
			n += int(e.Count)
		}
	}
	return n
}

// progress returns the condition of a rule as text, once all is quiet.
func (c cluster) progress(rule string) string {
	c.Helper()
	synctest.Wait()
	r, err := c.rules.Get(c.Context(), rule)
	c.must(r, err)
	if len(r.Status.Conditions) != 1 {
		return fmt.Sprintf("%d conditions", len(r.Status.Conditions))
	}
	x := r.Status.Conditions[0]
	if x.Type != "EvictionInProgress" || x.ObservedGeneration != r.Generation {
		c.Errorf("%+v at generation %d", x, r.Generation)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", x.Status, x.Reason, x.Message))
}

func (c cluster) expect(rule, want string) {
	c.Helper()
	if got := c.progress(rule); got != want {
		c.Errorf("rule %s:\n got %s\nwant %s", rule, got, want)
	}
}
