package vacprotection_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// A class that a claim names stays until the claim is gone; an unused one is deleted.
func TestAClassInUseStays(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"vacprotection", "pvcprotection"}})
	c, ctx := env.Client(t), t.Context()
	classes := client.For[*storagev1.VolumeAttributesClass](c)
	claims := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"used", "free"} {
		_, err := classes.Create(ctx, &storagev1.VolumeAttributesClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, DriverName: "example.com", Parameters: map[string]string{"a": "b"},
		})
		must(err)
	}
	_, err := claims.Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeAttributesClassName: ptr.To("used"),
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}})
	must(err)
	must(classes.Delete(ctx, "used"))
	must(classes.Delete(ctx, "free"))
	waittest.Gone(t, classes, "free")
	held, err := classes.Get(ctx, "used")
	must(err)
	if held.DeletionTimestamp == nil || len(held.Finalizers) != 1 {
		t.Fatalf("in use: %v", held.ObjectMeta)
	}
	must(claims.Delete(ctx, "c"))
	waittest.Gone(t, classes, "used")
}
