package scheduler_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// attachable returns a device that has to be attached before a pod is bound.
func attachable(name string) resourcev1.Device {
	x := device(name, "remote", "8Gi")
	x.BindingConditions, x.BindingFailureConditions = []string{"example.com/attached"}, []string{"example.com/broken"}
	return x
}

// report sets a condition of the device of a claim, as its driver does.
func (d *deviceEnv) report(claim, device, condition string) {
	d.Helper()
	c := await(d.T, d.claims, claim, "allocated", func(c *resourcev1.ResourceClaim) bool { return c.Status.Allocation != nil })
	c.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: driver, Pool: "node-1", Device: device, Conditions: []metav1.Condition{
		{Type: condition, Status: metav1.ConditionTrue, Reason: "Test", Message: "in the test", LastTransitionTime: metav1.Now()},
	}}}
	if _, err := d.claims.UpdateStatus(d.Context(), c); err != nil {
		d.Fatal(err)
	}
}

// A pod is bound when its device is attached. Other pods do not wait for that.
func TestBindingConditions(t *testing.T) {
	d := newDeviceEnv(t, 1)
	d.ready("node-1")
	d.slice("node-1", attachable("a"))
	d.claim("remote", one())
	d.pod("remote", using("remote"))
	await(t, d.pods, "remote", "expected on the node", func(p *corev1.Pod) bool { return p.Status.NominatedNodeName == "node-1" })
	d.pod("plain")
	d.running("plain")
	if p, err := d.pods.Get(t.Context(), "remote"); err != nil || p.Spec.NodeName != "" {
		t.Fatalf("bound to %q, %v", p.Spec.NodeName, err)
	}
	d.report("remote", "a", "example.com/attached")
	d.running("remote")
}

// A failed device is given back, and the pod gets another one.
func TestBindingFailure(t *testing.T) {
	d := newDeviceEnv(t, 1)
	d.ready("node-1")
	d.slice("node-1", attachable("a"))
	d.claim("remote", one())
	d.pod("remote", using("remote"))
	d.report("remote", "a", "example.com/broken")
	await(t, d.pods, "remote", "failed", func(p *corev1.Pod) bool {
		return len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Reason == corev1.PodReasonSchedulerError &&
			p.Status.Conditions[0].Message == `running PreBind plugin "DynamicResources": device binding failed: claim=remote, reason=Test, message="in the test"`
	})
	s, err := d.slices.Get(t.Context(), "node-1")
	if err != nil {
		t.Fatal(err)
	}
	s = s.DeepCopy()
	s.Spec.Pool.Generation = 2
	s.Spec.Devices = []resourcev1.Device{device("b", "local", "8Gi")}
	if _, err := d.slices.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	d.running("remote")
	if got := d.devices("remote"); got[0] != "node-1/b" {
		t.Errorf("devices %v", got)
	}
}
