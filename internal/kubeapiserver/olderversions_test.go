package kubeapiserver_test

import (
	"testing"

	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// TestOlderVersions enables all beta versions: a claim and a slice of v1beta1, whose form is another than that of v1, can be
// written and read in either version, and are defaulted, patched and watched.
func TestOlderVersions(t *testing.T) {
	c := start(t, "--runtime-config=api/beta=true")("root-token")
	got := resources(t, c)
	for name, want := range map[string]bool{
		"resource.k8s.io/v1beta1 resourceclaims": true, "resource.k8s.io/v1beta2 devicetaintrules": true,
		"certificates.k8s.io/v1beta1 clustertrustbundles": true, "storagemigration.k8s.io/v1beta1 storageversionmigrations": true,
		"admissionregistration.k8s.io/v1beta1 mutatingadmissionpolicies":  true,
		"admissionregistration.k8s.io/v1alpha1 mutatingadmissionpolicies": false,
		"networking.k8s.io/v1beta1 servicecidrs":                          false, "resource.k8s.io/v1alpha3 devicetaintrules": false,
		"coordination.k8s.io/v1beta1 leasecandidates": true, "internal.apiserver.k8s.io/v1alpha1 storageversions": false,
	} {
		if got[name] != want {
			t.Errorf("%s: served %t", name, got[name])
		}
	}
	candidate, err := c.CoordinationV1beta1().LeaseCandidates("default").Create(t.Context(), &coordinationv1beta1.LeaseCandidate{
		ObjectMeta: metav1.ObjectMeta{Name: "c"},
		Spec:       coordinationv1beta1.LeaseCandidateSpec{LeaseName: "l", BinaryVersion: "1.37.0", EmulationVersion: "1.37.0", Strategy: "OldestEmulationVersion"},
	}, metav1.CreateOptions{})
	if err != nil || candidate.Spec.LeaseName != "l" {
		t.Errorf("a candidate of a lease: %+v, %v", candidate, err)
	}
	old, now := c.ResourceV1beta1(), c.ResourceV1()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	claim, err := old.ResourceClaims("default").Create(t.Context(), &resourcev1beta1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu"},
		Spec: resourcev1beta1.ResourceClaimSpec{Devices: resourcev1beta1.DeviceClaim{Requests: []resourcev1beta1.DeviceRequest{{
			Name: "one", DeviceClassName: "gpu.example.com",
		}}}},
	}, metav1.CreateOptions{})
	must(err)
	if r := claim.Spec.Devices.Requests[0]; r.AllocationMode != resourcev1beta1.DeviceAllocationModeExactCount || r.Count != 1 || claim.ManagedFields[0].APIVersion != "resource.k8s.io/v1beta1" {
		t.Errorf("the claim is %+v, managed by %+v", r, claim.ManagedFields)
	}
	w, err := old.ResourceClaims("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: claim.ResourceVersion})
	must(err)
	defer w.Stop()
	if new, err := now.ResourceClaims("default").Get(t.Context(), "gpu", metav1.GetOptions{}); err != nil || new.Spec.Devices.Requests[0].Exactly.DeviceClassName != "gpu.example.com" {
		t.Errorf("in v1 the claim is %+v, %v", new, err)
	}
	_, err = old.ResourceClaims("default").Patch(t.Context(), "gpu", types.ApplyPatchType, []byte(`{"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaim",
		"metadata":{"name":"gpu","labels":{"a":"b"}}}`), metav1.PatchOptions{FieldManager: "test"})
	must(err)
	if e := <-w.ResultChan(); e.Object.(*resourcev1beta1.ResourceClaim).Labels["a"] != "b" || e.Object.(*resourcev1beta1.ResourceClaim).Spec.Devices.Requests[0].DeviceClassName != "gpu.example.com" {
		t.Errorf("a watch sees %+v", e.Object)
	}
	_, err = now.ResourceSlices().Create(t.Context(), &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "s"},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: ptr.To("n1"), Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "d", Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("1Gi")}}}},
		},
	}, metav1.CreateOptions{})
	must(err)
	list, err := old.ResourceSlices().List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=n1,spec.driver=gpu.example.com,spec.pool.name=p"})
	must(err)
	if len(list.Items) != 1 || list.Items[0].Spec.NodeName != "n1" || len(list.Items[0].Spec.Devices[0].Basic.Capacity) != 1 {
		t.Errorf("in v1beta1 the slices are %+v", list.Items)
	}
}
