package controlplane_test

import (
	"testing"
	"testing/synctest"
	"time"

	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
)

// TestStorageVersionsAfterExpiry: the reports of a server that was killed stay while it renews its Lease and until that expires.
// Then the Lease goes, and with it the reports.
func TestStorageVersionsAfterExpiry(t *testing.T) {
	dir, api := t.TempDir(), versionsAPI(t, true)
	own, _ := serverName(t)
	synctest.Test(t, func(t *testing.T) {
		cp, err := controlplane.Start(t.Context(), controlplane.Options{
			DataDir: dir, InMemory: true, Network: new(memnet.Network), API: api, Controllers: []string{"storageversiongarbagecollector"},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer cp.Stop()
		const other = "apiserver-other"
		c, ctx := kubernetes.NewForConfigOrDie(cp.Config()), t.Context()
		leases, versions := systemLeases(cp), c.InternalV1alpha1().StorageVersions()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		lease := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: other, Labels: map[string]string{"apiserver.kubernetes.io/identity": "kube-apiserver"}},
			Spec:       renewedAt(time.Now(), 3600),
		}
		lease, err = leases.Create(ctx, lease, metav1.CreateOptions{})
		must(err)
		report := internalv1alpha1.ServerStorageVersion{APIServerID: other, EncodingVersion: "v0", DecodableVersions: []string{"v0", "v1"}}
		pods, err := versions.Get(ctx, "core.pods", metav1.GetOptions{})
		must(err)
		pods.Status.StorageVersions, pods.Status.CommonEncodingVersion = append(pods.Status.StorageVersions, report), nil
		_, err = versions.UpdateStatus(ctx, pods, metav1.UpdateOptions{})
		must(err)
		things, err := versions.Create(ctx, &internalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: "core.things"}}, metav1.CreateOptions{})
		must(err)
		things.Status.StorageVersions, things.Status.CommonEncodingVersion = []internalv1alpha1.ServerStorageVersion{report}, ptr.To("v0")
		_, err = versions.UpdateStatus(ctx, things, metav1.UpdateOptions{})
		must(err)

		holds := func(when string, want bool) {
			t.Helper()
			pods, err := versions.Get(ctx, "core.pods", metav1.GetOptions{})
			must(err)
			servers, common := pods.Status.StorageVersions, ptr.Deref(pods.Status.CommonEncodingVersion, "")
			if had := len(servers) == 2 && common == ""; had != want || !had && (len(servers) != 1 || servers[0].APIServerID != own || common != "v1") {
				t.Errorf("%s: %+v", when, pods.Status)
			}
			if _, err := versions.Get(ctx, "core.things", metav1.GetOptions{}); apierrors.IsNotFound(err) == want {
				t.Errorf("%s: the StorageVersion of the other server alone: %v", when, err)
			}
		}
		for range 18 { // three hours in which it runs
			time.Sleep(10 * time.Minute)
			lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
			lease, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
			must(err)
		}
		holds("while it runs", true)
		time.Sleep(59 * time.Minute)
		holds("before its Lease expires", true)
		time.Sleep(time.Hour + time.Minute) // the search for expired Leases is made once an hour
		holds("after that", false)
		if _, err := leases.Get(ctx, other, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the Lease: %v", err)
		}
	})
}
