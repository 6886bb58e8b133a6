package persistentvolume_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

type fixture struct {
	*testing.T
	claims  client.Resource[*corev1.PersistentVolumeClaim]
	volumes client.Resource[*corev1.PersistentVolume]
	classes client.Resource[*storagev1.StorageClass]
}

func start(t *testing.T) fixture {
	c := testenv.New(t, testenv.Options{}).Client(t)
	return fixture{t, client.For[*corev1.PersistentVolumeClaim](c).Namespace("default"),
		client.For[*corev1.PersistentVolume](c), client.For[*storagev1.StorageClass](c)}
}

func claim(name, size string, class *string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}
}

func volume(name, size string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}},
		},
	}
}

func bound(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimBound }

func inPhase(p corev1.PersistentVolumePhase) func(*corev1.PersistentVolume) bool {
	return func(v *corev1.PersistentVolume) bool { return v.Status.Phase == p }
}

func TestTheDefaultClassProvisionsGrowsAndDeletes(t *testing.T) {
	f := start(t)
	must(f.claims.Create(t.Context(), claim("data", "1Gi", nil)))
	c := waittest.One(t, f.claims, "data", "its volume", bound)
	size := c.Status.Capacity[corev1.ResourceStorage]
	if *c.Spec.StorageClassName != "standard" || c.Spec.VolumeName != "pvc-"+string(c.UID) || size.String() != "1Gi" {
		t.Errorf("bound to %s of %s, %s", c.Spec.VolumeName, *c.Spec.StorageClassName, size.String())
	}
	v := waittest.One(t, f.volumes, c.Spec.VolumeName, "its claim", inPhase(corev1.VolumeBound))
	if v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID != c.UID || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("volume %+v", v.Spec)
	}

	must(f.claims.Patch(t.Context(), "data", client.MergePatch(map[string]any{
		"spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": "3Gi"}}}})))
	waittest.One(t, f.claims, "data", "its new size", func(c *corev1.PersistentVolumeClaim) bool {
		s := c.Status.Capacity[corev1.ResourceStorage]
		return s.String() == "3Gi"
	})
	if err := f.claims.Delete(t.Context(), "data"); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, f.volumes, v.Name)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestTheSmallestThatFitsIsBoundAndRetained(t *testing.T) {
	f := start(t)
	none := ""
	for name, size := range map[string]string{"small": "1Gi", "middle": "5Gi", "large": "50Gi"} {
		must(f.volumes.Create(t.Context(), volume(name, size)))
		waittest.One(t, f.volumes, name, "availability", inPhase(corev1.VolumeAvailable))
	}
	must(f.claims.Create(t.Context(), claim("data", "2Gi", &none)))
	c := waittest.One(t, f.claims, "data", "its volume", bound)
	if c.Spec.VolumeName != "middle" || len(c.Status.AccessModes) != 2 {
		t.Errorf("bound to %s %v", c.Spec.VolumeName, c.Status.AccessModes)
	}
	if err := f.claims.Delete(t.Context(), "data"); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, f.volumes, "middle", "its release", inPhase(corev1.VolumeReleased))

	// A released volume is not bound to the next claim, which gets the large one.
	must(f.claims.Create(t.Context(), claim("next", "2Gi", &none)))
	if c := waittest.One(t, f.claims, "next", "its volume", bound); c.Spec.VolumeName != "large" {
		t.Errorf("bound to %s", c.Spec.VolumeName)
	}
	// A claim without a matching volume waits for one.
	must(f.claims.Create(t.Context(), claim("last", "2Gi", &none)))
	must(f.volumes.Create(t.Context(), volume("late", "2Gi")))
	if c := waittest.One(t, f.claims, "last", "its volume", bound); c.Spec.VolumeName != "late" {
		t.Errorf("bound to %s", c.Spec.VolumeName)
	}
	// If a bound volume is deleted, its claim is lost.
	if err := f.volumes.Delete(t.Context(), "late"); err != nil {
		t.Fatal(err)
	}
	must(f.volumes.Patch(t.Context(), "late", client.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": nil}})))
	waittest.One(t, f.claims, "last", "its loss", func(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimLost })
}

func TestReservationsAndOtherProvisioners(t *testing.T) {
	f := start(t)
	none, remote := "", "remote"
	reserved := volume("reserved", "9Gi")
	reserved.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "mine"}
	must(f.volumes.Create(t.Context(), reserved))
	waittest.One(t, f.volumes, "reserved", "availability", inPhase(corev1.VolumeAvailable))
	must(f.volumes.Create(t.Context(), volume("free", "9Gi")))
	must(f.claims.Create(t.Context(), claim("other", "1Gi", &none)))
	must(f.claims.Create(t.Context(), claim("mine", "1Gi", &none)))
	if c := waittest.One(t, f.claims, "mine", "its volume", bound); c.Spec.VolumeName != "reserved" {
		t.Errorf("mine has %s", c.Spec.VolumeName)
	}
	if c := waittest.One(t, f.claims, "other", "its volume", bound); c.Spec.VolumeName != "free" {
		t.Errorf("other has %s", c.Spec.VolumeName)
	}

	must(f.classes.Create(t.Context(), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: remote}, Provisioner: "example.com/disk"}))
	must(f.claims.Create(t.Context(), claim("far", "1Gi", &remote)))
	c := waittest.One(t, f.claims, "far", "the call for its provisioner", func(c *corev1.PersistentVolumeClaim) bool {
		return c.Annotations["volume.kubernetes.io/storage-provisioner"] == "example.com/disk"
	})
	// The test acts as an external provisioner: it creates a volume that refers to the claim.
	made := volume("disk-1", "1Gi")
	made.Spec.StorageClassName = remote
	made.Annotations = map[string]string{"pv.kubernetes.io/provisioned-by": "example.com/disk"}
	made.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "default", Name: "far", UID: c.UID}
	must(f.volumes.Create(t.Context(), made))
	if c := waittest.One(t, f.claims, "far", "its volume", bound); c.Spec.VolumeName != "disk-1" {
		t.Errorf("far has %s", c.Spec.VolumeName)
	}
}
