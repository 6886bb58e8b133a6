package pvcprotection_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
)

func unused(c *corev1.PersistentVolumeClaim) (found corev1.PersistentVolumeClaimCondition) {
	for _, cond := range c.Status.Conditions {
		if cond.Type == corev1.PersistentVolumeClaimUnused {
			found = cond
		}
	}
	return found
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

func user(name, of string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "i"}},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: of},
		}}},
	}}
}

// A bound claim says since when no pod refers to it: one that waits for a node does, one that has ended does not. The test
// acts as the binder and as the kubelet.
func TestUnusedSince(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"pvcprotection", "serviceaccount"}})
	c, ctx := controlplanetest.Client(t, cp), t.Context()
	claims := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "there", func(*corev1.ServiceAccount) bool { return true })
	if _, err := claims.Create(ctx, claim("data")); err != nil {
		t.Fatal(err)
	}
	bound := client.MergePatch(map[string]any{"status": map[string]any{"phase": corev1.ClaimBound}}).On("status")
	if made, err := claims.Patch(ctx, "data", bound); err != nil || unused(made).Type != "" {
		t.Fatal(made, err)
	}
	var since metav1.Time
	is := func(status corev1.ConditionStatus, reason, message string) {
		t.Helper()
		got := waittest.One(t, claims, "data", reason, func(c *corev1.PersistentVolumeClaim) bool { return unused(c).Status == status })
		cond := unused(got)
		if cond.Reason != reason || cond.Message != message || cond.LastTransitionTime.Before(&since) || time.Since(cond.LastTransitionTime.Time) > time.Hour {
			t.Errorf("condition %+v", cond)
		}
		since = cond.LastTransitionTime
	}
	isUnused := func() {
		t.Helper()
		is(corev1.ConditionTrue, "NoPodsUsingPVC", "No pods are currently referencing this PVC")
	}
	isUsed := func() {
		t.Helper()
		is(corev1.ConditionFalse, "PodUsingPVC", "A pod is currently referencing this PVC")
	}

	isUnused()
	if _, err := pods.Create(ctx, user("waits", "data")); err != nil {
		t.Fatal(err)
	}
	isUsed()
	ended := client.MergePatch(map[string]any{"status": map[string]any{"phase": corev1.PodSucceeded}}).On("status")
	if _, err := pods.Patch(ctx, "waits", ended); err != nil {
		t.Fatal(err)
	}
	isUnused()
	if _, err := pods.Create(ctx, user("second", "data")); err != nil {
		t.Fatal(err)
	}
	isUsed()
	now := int64(0)
	if err := pods.Delete(ctx, "second", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	isUnused()
}

// With the gate off, as before 1.37, the controller still protects, and sets no condition.
func TestUnusedSinceIsGated(t *testing.T) {
	of, err := gates.New(version.MustParse("1.36"))
	if err != nil {
		t.Fatal(err)
	}
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"pvcprotection"}, API: gates.API{Gates: of}})
	c, ctx := controlplanetest.Client(t, cp), t.Context()
	claims := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default")
	if _, err := claims.Create(ctx, claim("data")); err != nil {
		t.Fatal(err)
	}
	bound := client.MergePatch(map[string]any{"status": map[string]any{"phase": corev1.ClaimBound}}).On("status")
	if _, err := claims.Patch(ctx, "data", bound); err != nil {
		t.Fatal(err)
	}
	// The controller has looked at the bound claim when it adds its finalizer again.
	if _, err := claims.Patch(ctx, "data", client.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": nil}})); err != nil {
		t.Fatal(err)
	}
	held := waittest.One(t, claims, "data", "protected", func(c *corev1.PersistentVolumeClaim) bool { return len(c.Finalizers) == 1 })
	if got := unused(held); got.Type != "" {
		t.Errorf("condition %+v", got)
	}
}
