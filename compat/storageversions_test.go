package compat

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// storedOtherwise has the versions in which kube-apiserver stores kinds that ours stores as v1: those that 1.36 reads.
var storedOtherwise = map[string]string{
	"apiextensions.k8s.io.customresourcedefinitions":   "apiextensions.k8s.io/v1beta1",
	"certificates.k8s.io.clustertrustbundles":          "certificates.k8s.io/v1beta1",
	"certificates.k8s.io.podcertificaterequests":       "certificates.k8s.io/v1beta1",
	"resource.k8s.io.devicetaintrules":                 "resource.k8s.io/v1beta2",
	"storagemigration.k8s.io.storageversionmigrations": "storagemigration.k8s.io/v1beta1",
}

// TestStorageVersionsAgree: with the feature gate StorageVersionAPI kube-apiserver and ours have the same StorageVersions. Ours decodes no version that kube-apiserver does not.
func TestStorageVersionsAgree(t *testing.T) {
	flags := []string{"--feature-gates=StorageVersionAPI=true", "--runtime-config=internal.apiserver.k8s.io/v1alpha1=true"}
	theirs := storageVersionsOf(t, startUpstream(t, flags...))
	ours := storageVersionsOf(t, startOurs(t, flags...))
	if len(theirs) < 50 {
		t.Errorf("kube-apiserver has %d StorageVersions", len(theirs))
	}
	for name, their := range theirs {
		our, ok := ours[name]
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		a, b := &their.StorageVersions[0], &our.StorageVersions[0]
		for _, v := range b.DecodableVersions {
			if !slices.Contains(a.DecodableVersions, v) {
				t.Errorf("%s: ours decodes %s, kube-apiserver %s", name, v, a.DecodableVersions)
			}
		}
		a.DecodableVersions, b.DecodableVersions = nil, nil
		if other := storedOtherwise[name]; other != "" {
			if a.EncodingVersion != other {
				t.Errorf("%s: kube-apiserver stores %s, want %s", name, a.EncodingVersion, other)
			}
			a.EncodingVersion, their.CommonEncodingVersion = b.EncodingVersion, ptr.To(b.EncodingVersion)
		}
		if diff := cmp.Diff(their, our); diff != "" {
			t.Errorf("%s (-kube-apiserver, +ours):\n%s", name, diff)
		}
	}
	for name := range ours {
		if _, ok := theirs[name]; !ok {
			t.Errorf("%s is ours only", name)
		}
	}
}

// storageVersionsOf returns the StorageVersions of a server that is the only one of its cluster, without their times.
func storageVersionsOf(t *testing.T, u upstream) map[string]internalv1alpha1.StorageVersionStatus {
	t.Helper()
	list, err := u.clients.InternalV1alpha1().StorageVersions().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]internalv1alpha1.StorageVersionStatus{}
	for _, v := range list.Items {
		if len(v.Status.StorageVersions) != 1 || len(v.Status.Conditions) != 1 || v.Status.Conditions[0].LastTransitionTime.IsZero() {
			t.Fatalf("%s: %+v", v.Name, v.Status)
		}
		v.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		all[v.Name] = v.Status
	}
	return all
}
