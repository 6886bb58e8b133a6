package admission_test

import (
	"context"
	"net/netip"
	"testing"

	"fairlead.dev/server/admission"
	"fairlead.dev/server/auth"
)

// BenchmarkPodCreate is what the default chain adds to the creation of a pod.
func BenchmarkPodCreate(b *testing.B) {
	chain := admission.Default(admission.Options{
		Lookup: newWorld(), Authorizer: auth.AllowAll,
		Services: admission.ServiceOptions{CIDRs: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")}},
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

// BenchmarkServiceCreate allocates and gives back one address and one port.
func BenchmarkServiceCreate(b *testing.B) {
	p := admission.NewServiceAllocation(newWorld(), admission.ServiceOptions{CIDRs: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")}})
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
