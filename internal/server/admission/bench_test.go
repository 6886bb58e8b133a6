package admission_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
)

// BenchmarkPodCreate measures the default chain for the creation of a pod.
func BenchmarkPodCreate(b *testing.B) {
	chain := admission.Default(admission.Options{
		Lookup: newWorld(), Authorizer: auth.AllowAll,
		Services: admission.ServiceOptions{Families: []corev1.IPFamily{corev1.IPv4Protocol}},
	})
	template := pod(nil)
	b.ReportAllocs()
	for b.Loop() {
		r := request(admission.Create, "pods", "shop", "", template.DeepCopy(), nil)
		if err := chain.All(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkServiceCreate allocates and releases one address and one port.
func BenchmarkServiceCreate(b *testing.B) {
	w := newWorld()
	w["servicecidrs"] = []metav1.Object{serviceCIDR("kubernetes", "10.96.0.0/12")}
	p := admission.NewServiceAllocation(w, admission.ServiceOptions{Families: []corev1.IPFamily{corev1.IPv4Protocol}})
	template := service("s", nil)
	template.Spec.Type = "NodePort"
	b.ReportAllocs()
	for b.Loop() {
		r := request(admission.Create, "services", "shop", "s", template.DeepCopy(), nil)
		if err := p.Complete(context.Background(), r); err != nil {
			b.Fatal(err)
		}
		r.Done(false)
	}
}
