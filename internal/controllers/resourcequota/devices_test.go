package resourcequota_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// A quota for the devices of a class is counted, rejects claims, and is released, also under the class's extended
// resource names.
func TestDeviceQuota(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"resourcequota", "serviceaccount"}, NoScheduler: true, NoNodes: true})
	c, ctx := env.Client(t), t.Context()
	quotas := client.For[*corev1.ResourceQuota](c).Namespace("default")
	claims := client.For[*resourcev1.ResourceClaim](c).Namespace("default")
	classes := client.For[*resourcev1.DeviceClass](c)
	claim := func(name string, count int64) *resourcev1.ResourceClaim {
		return &resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
				Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gold", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count},
			}}}},
		}
	}
	if _, err := claims.Create(ctx, claim("before", 2)); err != nil {
		t.Fatal(err)
	}
	if _, err := quotas.Create(ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "q"},
		Spec: corev1.ResourceQuotaSpec{Hard: amounts("gold.deviceclass.resource.k8s.io/devices=3 count/resourceclaims.resource.k8s.io=5 " +
			"requests.deviceclass.resource.kubernetes.io/gold=9 requests.example.com/gpu=9")},
	}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, quotas, "q", "the first count", uses("gold.deviceclass.resource.k8s.io/devices=2 count/resourceclaims.resource.k8s.io=1 requests.example.com/gpu=0"))
	if _, err := claims.Create(ctx, claim("many", 5)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(),
		"exceeded quota: q, requested: gold.deviceclass.resource.k8s.io/devices=5, used: gold.deviceclass.resource.k8s.io/devices=2, limited: gold.deviceclass.resource.k8s.io/devices=3") {
		t.Errorf("five devices: %v", err)
	}
	if _, err := claims.Create(ctx, claim("one", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := classes.Create(ctx, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: ptr.To("example.com/gpu")}}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, quotas, "q", "the class counted", uses("gold.deviceclass.resource.k8s.io/devices=3 requests.deviceclass.resource.kubernetes.io/gold=3 requests.example.com/gpu=3"))
	if err := claims.Delete(ctx, "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, quotas, "q", "two devices given back", uses("gold.deviceclass.resource.k8s.io/devices=1 requests.deviceclass.resource.kubernetes.io/gold=1 requests.example.com/gpu=1"))
}
