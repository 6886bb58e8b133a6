package attachdetach_test

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// TestSimulatedNodes: a simulated node runs pods with simulated volumes, which are never attached, and, if it has the annotation,
// pods with the volumes of a CSI driver once they are attached.
func TestSimulatedNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testenv.New(t, testenv.Options{Bubble: true, Nodes: 1}).Client(t)
		c := cluster{T: t, pods: client.For[*corev1.Pod](api).Namespace("default"), nodes: client.For[*corev1.Node](api),
			volumes: client.For[*corev1.PersistentVolume](api), claims: client.For[*corev1.PersistentVolumeClaim](api).Namespace("default"),
			attachments: client.For[*storagev1.VolumeAttachment](api)}
		running := func(pod string) {
			t.Helper()
			waittest.One(t, c.pods, pod, "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
		}
		waittest.One(t, c.nodes, "node-1", "registered", func(*corev1.Node) bool { return true })
		waittest.One(t, client.For[*corev1.ServiceAccount](api).Namespace("default"), "default", "the account of pods", func(*corev1.ServiceAccount) bool { return true })
		n, err := c.nodes.Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}}))
		must(c, n, err)
		driver, err := client.For[*storagev1.CSINode](api).Create(t.Context(), &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-1"},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "x.csi", NodeID: "node-1"}}}})
		must(c, driver, err)
		claim, err := c.claims.Create(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("standard"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}})
		must(c, claim, err)
		c.pod("simulated", "", "s")
		running("simulated")
		synctest.Wait()
		if list, err := c.attachments.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
			t.Errorf("%v, attachments: %+v", err, list.Items)
		}
		c.unbound("a", corev1.ReadWriteOnce)
		waittest.One(t, c.claims, "a", "bound", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
		c.pod("attached", "node-1", "a")
		c.attach("a", "node-1")
		running("attached")
		c.remove("attached")
		waittest.Gone(t, c.attachments, attachment("a", "node-1"))
	})
}
