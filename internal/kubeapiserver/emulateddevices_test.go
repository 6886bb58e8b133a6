package kubeapiserver_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestEmulatedDeviceTaints: the controller that evicts pods from devices does without DeviceTaintRules if the version or the
// gates have none, and waits for no kind that is not served.
func TestEmulatedDeviceTaints(t *testing.T) {
	t.Setenv("FAIRLEAD_CONTROLLERS", "devicetainteviction")
	for name, c := range map[string]struct {
		args   []string
		served bool // DeviceTaintRules
		rules  bool // they have effects
	}{
		"1.36":         {[]string{"--emulated-version=1.36"}, false, false},
		"1.37":         {nil, true, true},
		"1.37 without": {[]string{"--feature-gates=DRADeviceTaintRules=false"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			root := start(t, append(c.args, "--disable-admission-plugins=ServiceAccount")...)("root-token")
			rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: resourcev1.DeviceTaintRuleSpec{
				DeviceSelector: &resourcev1.DeviceTaintSelector{}, Taint: resourcev1.DeviceTaint{Key: "example.com/broken", Effect: resourcev1.DeviceTaintEffectNoExecute}}}
			if _, err := root.ResourceV1().DeviceTaintRules().Create(t.Context(), rule, metav1.CreateOptions{}); c.served && err != nil || !c.served && !apierrors.IsNotFound(err) {
				t.Fatalf("a rule: %v", err)
			}
			deviceUser(t, root, "by-rule", "a")
			if c.rules {
				evicted(t, root, "by-rule")
				return
			}
			node := "node"
			if _, err := root.ResourceV1().ResourceSlices().Create(t.Context(), &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: "pool", ResourceSliceCount: 1},
				Devices: []resourcev1.Device{{Name: "b", Taints: []resourcev1.DeviceTaint{{Key: "example.com/broken", Effect: resourcev1.DeviceTaintEffectNoExecute}}}},
			}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			deviceUser(t, root, "by-slice", "b")
			evicted(t, root, "by-slice")
			if p, err := root.CoreV1().Pods("default").Get(t.Context(), "by-rule", metav1.GetOptions{}); err != nil || p.DeletionTimestamp != nil {
				t.Errorf("the pod of the rule: %v", err)
			}
		})
	}
}

// deviceUser creates a pod on a node, with a claim that has a device.
func deviceUser(t *testing.T, c *kubernetes.Clientset, name, device string) {
	t.Helper()
	p, err := c.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeName: "node", Containers: []corev1.Container{{Name: "c", Image: "c"}}, ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	claim, err := c.ResourceV1().ResourceClaims("default").Create(t.Context(), &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: p.UID}}
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{
		Request: "r", Driver: "gpu.example.com", Pool: "pool", Device: device}}}}
	if _, err := c.ResourceV1().ResourceClaims("default").UpdateStatus(t.Context(), claim, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// evicted waits until a pod is being deleted.
func evicted(t *testing.T, c *kubernetes.Clientset, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w, err := c.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if p, ok := e.Object.(*corev1.Pod); ok && p.DeletionTimestamp != nil {
			return
		}
	}
	t.Fatalf("%s is not evicted", name)
}
