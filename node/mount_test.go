package node_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

// TestMountTimeout: a pod whose volumes are not attached or not mounted is told so each time that a kubelet has waited for them
// in vain, and starts when they are.
func TestMountTimeout(t *testing.T) {
	inBubble(t, nil, func(b *bubble) {
		size := corev1.ResourceList{"storage": resource.MustParse("1Gi")}
		modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		if _, err := client.For[*corev1.PersistentVolume](b.client).Create(b.Context(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeSpec{
			AccessModes: modes, Capacity: size,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "x.csi", VolumeHandle: "h"}},
		}}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.For[*corev1.PersistentVolumeClaim](b.client).Namespace("default").Create(b.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, VolumeName: "disk", StorageClassName: ptr.To(""), Resources: corev1.VolumeResourceRequirements{Requests: size},
		}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // it is bound
		b.create("a", "", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{
				{Name: "files", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "m"}}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			}
		})
		time.Sleep(2 * time.Minute)
		const overdue = "Unable to attach or mount volumes: unmounted volumes=[data files], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded"
		if n := b.count("a", overdue); n != 0 {
			t.Errorf("told %d times after two minutes", n)
		}
		time.Sleep(5 * time.Minute)
		if n := b.count("a", overdue); n != 3 {
			t.Errorf("told %d times after seven minutes", n)
		}
		if s := b.pod("a").Status; s.Phase != corev1.PodPending || s.ContainerStatuses[0].State.Waiting.Reason != "ContainerCreating" {
			t.Errorf("status: %+v", s)
		}
	})
}

// count returns how often a pod was told of a message.
func (b *bubble) count(about, message string) (n int32) {
	b.Helper()
	list, err := b.events.List(b.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + about})
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range list.Items {
		if e.Message == message {
			n += e.Count
		}
	}
	return n
}
