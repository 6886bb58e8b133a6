package admission_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/server/admission"
)

func TestStorageIsProtected(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Finalizers = []string{"mine"}
	volume := &corev1.PersistentVolume{}
	p := admission.StorageObjectInUseProtection{}
	for range 2 { // the second time the finalizers exist
		if err := admit(t, p, request(admission.Create, "persistentvolumeclaims", "shop", "c", claim, nil)); err != nil {
			t.Fatal(err)
		}
		if err := admit(t, p, request(admission.Create, "persistentvolumes", "", "v", volume, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"mine", "kubernetes.io/pvc-protection"}; !slices.Equal(claim.Finalizers, want) {
		t.Errorf("a claim has %v, want %v", claim.Finalizers, want)
	}
	if want := []string{"kubernetes.io/pv-protection"}; !slices.Equal(volume.Finalizers, want) {
		t.Errorf("a volume has %v, want %v", volume.Finalizers, want)
	}
	claim.Finalizers = nil
	if err := admit(t, p, request(admission.Update, "persistentvolumeclaims", "shop", "c", claim, claim)); err != nil || claim.Finalizers != nil {
		t.Error("an update brings it back")
	}
}
