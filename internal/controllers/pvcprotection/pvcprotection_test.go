package pvcprotection_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// A claim used by a pod stays until the pod is gone; a bound volume stays until it is unbound.
func TestWhatIsInUseStays(t *testing.T) {
	// The test itself acts as the binder.
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"*", "-persistentvolume"}})
	c, ctx := env.Client(t), t.Context()
	claims := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default")
	volumes := client.For[*corev1.PersistentVolume](c)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	nodes := client.For[*corev1.Node](c)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	for _, name := range []string{"used", "free"} {
		_, err := claims.Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{Requests: size}}})
		must(err)
	}
	_, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	must(err)
	for pod, node := range map[string]string{"runs": "n", "waits": ""} {
		_, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}, Spec: corev1.PodSpec{
			NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
				ClaimName: map[string]string{"runs": "used", "waits": "free"}[pod]}}}},
		}})
		must(err)
	}
	for _, name := range []string{"used", "free"} {
		must(claims.Delete(ctx, name))
	}
	waittest.Gone(t, claims, "free") // a pod without a node does not protect it
	held, err := claims.Get(ctx, "used")
	must(err)
	if held.DeletionTimestamp == nil || !slices.Contains(held.Finalizers, "kubernetes.io/pvc-protection") {
		t.Fatalf("in use: %v", held.ObjectMeta)
	}
	now := int64(0)
	must(pods.Delete(ctx, "runs", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	waittest.Gone(t, claims, "used")

	for _, name := range []string{"bound", "loose"} {
		_, err := volumes.Create(ctx, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: size,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp/v"}}}})
		must(err)
	}
	phase := func(p corev1.PersistentVolumePhase) {
		t.Helper()
		_, err := volumes.Patch(ctx, "bound", client.MergePatch(map[string]any{"status": map[string]any{"phase": p}}).On("status"))
		must(err)
	}
	phase(corev1.VolumeBound)
	for _, name := range []string{"bound", "loose"} {
		must(volumes.Delete(ctx, name))
	}
	waittest.Gone(t, volumes, "loose")
	if v, err := volumes.Get(ctx, "bound"); err != nil || v.DeletionTimestamp == nil {
		t.Fatalf("bound: %v, %v", v, err)
	}
	phase(corev1.VolumeReleased)
	waittest.Gone(t, volumes, "bound")
}
