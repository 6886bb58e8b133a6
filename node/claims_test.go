package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// until waits until an object is as wanted.
func until[T client.Object](t *testing.T, of client.Resource[T], name, what string, ok func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := of.Watch(ctx, metav1.ListOptions{FieldSelector: name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("never %s: %v", what, err)
		}
		if ok(ev.Object) {
			return ev.Object
		}
	}
}

// A pod that was bound by others waits in ContainerCreating until its claim is allocated, and reserved for it.
func TestPodWaitsForItsClaims(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle", "resourceclaim"}, NoScheduler: true, Nodes: 1})
	ctx, c := t.Context(), env.Client(t)
	until(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "metadata.name=default", "there", func(*corev1.ServiceAccount) bool { return true })
	claims := client.For[*resourcev1.ResourceClaim](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	claim, err := claims.Create(ctx, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gpu"}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train"}, Spec: corev1.PodSpec{
		NodeName: "node-1", ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("gpu")}},
		Containers: []corev1.Container{{Name: "c", Image: "train", Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}}},
	}}); err != nil {
		t.Fatal(err)
	}
	until(t, client.For[*corev1.Event](c).Namespace("default"), "", "told about the claim", func(e *corev1.Event) bool {
		return e.Reason == "FailedPrepareDynamicResources" && strings.HasPrefix(e.Message, "Failed to prepare dynamic resources: pod train (") &&
			strings.HasSuffix(e.Message, ") is not allowed to use ResourceClaim gpu ("+string(claim.UID)+")")
	})
	p := until(t, pods, "metadata.name=train", "waiting", func(p *corev1.Pod) bool { return len(p.Status.ContainerStatuses) > 0 })
	if w := p.Status.ContainerStatuses[0].State.Waiting; w == nil || w.Reason != "ContainerCreating" {
		t.Errorf("container %+v", p.Status.ContainerStatuses[0].State)
	}
	claim.Finalizers = append(claim.Finalizers, resourcev1.Finalizer)
	if claim, err = claims.Update(ctx, claim); err != nil {
		t.Fatal(err)
	}
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Request: "r", Driver: "gpu.example.com", Pool: "node-1", Device: "a"}}}}
	if _, err = claims.UpdateStatus(ctx, claim); err != nil {
		t.Fatal(err)
	}
	until(t, pods, "metadata.name=train", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
}
