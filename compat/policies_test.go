package compat

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// On upstream's API server our controllers fill aggregated roles, count quotas, which its
// admission charges, and release volumes that are not used.
func TestOurPolicyControllersOnUpstreamsServer(t *testing.T) {
	up := startUpstream(t)
	start(t, bin.fairlead, "controllers", "--kubeconfig", up.kubeconfig)
	ctx := context.Background()
	rest := up.clients.CoreV1().RESTClient()
	const ns = "default"

	roles := cache.NewListWatchFromClient(up.clients.RbacV1().RESTClient(), "clusterroles", "", one("admin"))
	until(t, roles, "the role admin with the rules of its parts", func(r *rbacv1.ClusterRole) bool { return len(r.Rules) > 10 })

	quotas := up.clients.CoreV1().ResourceQuotas(ns)
	hard := corev1.ResourceList{"count/secrets": resource.MustParse("1"), "requests.storage": resource.MustParse("5Gi")}
	if _, err := quotas.Create(ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	used := func(what, secrets, storage string) {
		t.Helper()
		until(t, cache.NewListWatchFromClient(rest, "resourcequotas", ns, one("q")), what, func(q *corev1.ResourceQuota) bool {
			s, counted := q.Status.Used["count/secrets"]
			v := q.Status.Used["requests.storage"]
			return counted && s.String() == secrets && v.String() == storage
		})
	}
	used("the new quota counted", "0", "0")
	secrets := up.clients.CoreV1().Secrets(ns)
	create := func(name string) error {
		_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	err := create("first")
	for end := time.Now().Add(patience); apierrors.IsForbidden(err) && time.Now().Before(end); err = create("first") {
		time.Sleep(100 * time.Millisecond) // its admission has not heard of the count yet, and cannot be asked
	}
	if err != nil {
		t.Fatal(err)
	}
	used("a secret charged", "1", "0")
	if err := create("second"); !apierrors.IsForbidden(err) {
		t.Errorf("one too many: %v", err)
	}
	if err := secrets.Delete(ctx, "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	used("it given back", "0", "0")

	claims := up.clients.CoreV1().PersistentVolumeClaims(ns)
	claim, err := claims.Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}},
	}}, metav1.CreateOptions{})
	if err != nil || len(claim.Finalizers) != 1 {
		t.Fatalf("a claim: %v, %v", claim.Finalizers, err)
	}
	used("the claim charged", "0", "2Gi")
	if err := claims.Delete(ctx, "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, cache.NewListWatchFromClient(rest, "persistentvolumeclaims", ns, one("c")), "the claim that nobody uses gone")
	used("and given back", "0", "0")
}
