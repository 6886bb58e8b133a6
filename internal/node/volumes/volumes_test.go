package volumes_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
)

// TestForeignController: with a foreign controller that binds claims to volumes, the driver with the nodes does the work asked of
// it by annotations and phases, which here the test sets as kube-controller-manager does.
func TestForeignController(t *testing.T) {
	cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: t.TempDir(), InMemory: true, Listen: "127.0.0.1:0", Nodes: 1, Controllers: []string{"pvprotection", "pvcprotection"}})
	if err != nil {
		t.Fatal(err)
	}
	defer cp.Stop()
	c, err := client.New(cp.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	claims, volumes := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default"), client.For[*corev1.PersistentVolume](c)
	must(client.For[*storagev1.StorageClass](c).Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "late"}, Provisioner: "simulated.fairlead.dev", AllowVolumeExpansion: ptr.To(true),
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer), ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimRetain),
	}))
	asked := map[string]any{"volume.kubernetes.io/storage-provisioner": "simulated.fairlead.dev"}
	for _, class := range []string{"late", "standard"} {
		must(claims.Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: class}, Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}))
		must(claims.Patch(ctx, class, client.MergePatch(map[string]any{"metadata": map[string]any{"annotations": asked}})))
	}
	// The one that does not wait for a node is made, although it was asked for later.
	made := map[string]*corev1.PersistentVolume{}
	made["standard"] = madeFor(t, volumes, "standard")
	if list, err := volumes.List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 1 {
		t.Fatalf("%d volumes, %v: one waits for a node", len(list.Items), err)
	}
	must(claims.Patch(ctx, "late", client.MergePatch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"volume.kubernetes.io/selected-node": "node-1"}}})))
	made["late"] = madeFor(t, volumes, "late")
	if a := made["late"].Spec.NodeAffinity; a == nil || a.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0] != "node-1" {
		t.Errorf("a volume for a node: %+v", a)
	}
	if v := made["standard"]; v.Spec.NodeAffinity != nil || v.Annotations["pv.kubernetes.io/provisioned-by"] != "simulated.fairlead.dev" || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("a volume: %+v", v)
	}

	must(claims.Patch(ctx, "standard", client.MergePatch(map[string]any{"spec": map[string]any{"volumeName": made["standard"].Name}})))
	must(claims.Patch(ctx, "standard", client.MergePatch(map[string]any{"status": map[string]any{"phase": "Bound", "capacity": map[string]any{"storage": "1Gi"}}}).On("status")))
	must(claims.Patch(ctx, "standard", client.MergePatch(map[string]any{"spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": "3Gi"}}}})))
	waittest.One(t, claims, "standard", "its new size", func(c *corev1.PersistentVolumeClaim) bool {
		s := c.Status.Capacity[corev1.ResourceStorage]
		return s.String() == "3Gi"
	})
	waittest.One(t, volumes, made["standard"].Name, "its new size", func(v *corev1.PersistentVolume) bool {
		s := v.Spec.Capacity[corev1.ResourceStorage]
		return s.String() == "3Gi"
	})

	for _, name := range []string{"late", "standard"} { // the one that is to be kept first
		if err := claims.Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
		must(volumes.Patch(ctx, made[name].Name, client.MergePatch(map[string]any{"status": map[string]any{"phase": "Released"}}).On("status")))
	}
	waittest.Gone(t, volumes, made["standard"].Name)
	if _, err := volumes.Get(ctx, made["late"].Name); err != nil {
		t.Errorf("a volume to be retained: %v", err)
	}
}

// madeFor waits for the volume of a claim.
func madeFor(t *testing.T, volumes client.Resource[*corev1.PersistentVolume], claim string) (made *corev1.PersistentVolume) {
	t.Helper()
	waittest.For(t, volumes, "the volume of "+claim, "", func(all map[string]*corev1.PersistentVolume) bool {
		for _, v := range all {
			if v.Spec.ClaimRef != nil && v.Spec.ClaimRef.Name == claim {
				made = v
			}
		}
		return made != nil
	})
	return made
}
