package addon_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/manifest"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/join/addon"
	"fairlead.dev/testenv"
)

// TestAddons: the manifests are valid, applying them again changes no object, and their pods avoid simulated nodes.
func TestAddons(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	for _, a := range addon.All {
		objects, err := a.Objects(t.Context(), c, env.Config(), addon.Options{Replicas: 1, Server: "https://10.0.0.1:6443"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := manifest.Apply(t.Context(), c, objects); err != nil {
				t.Fatalf("%s: %v", a.Name, err)
			}
		}
	}
	waittest.For(t, client.For[*corev1.Pod](c).Namespace("kube-system"), "CoreDNS that fits no node", "k8s-app=kube-dns", func(have map[string]*corev1.Pod) bool {
		for _, p := range have {
			if p.Spec.NodeName != "" {
				t.Errorf("CoreDNS runs on the simulated node %s", p.Spec.NodeName)
			}
			for _, condition := range p.Status.Conditions {
				if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
					return true
				}
			}
		}
		return false
	})
	waittest.For(t, client.For[*appsv1.DaemonSet](c).Namespace("kube-system"), "kube-proxy on no node", "", func(have map[string]*appsv1.DaemonSet) bool {
		ds := have["kube-proxy"]
		return ds != nil && ds.Generation == 1 && ds.Status.ObservedGeneration == 1 && ds.Status.DesiredNumberScheduled == 0
	})
	services, err := client.For[*corev1.Service](c).Namespace("kube-system").Get(t.Context(), "kube-dns")
	if err != nil || services.Spec.ClusterIP != "10.96.0.10" {
		t.Errorf("the Service kube-dns has %v, %v", services, err)
	}
	if _, err := addon.Find("flannel"); err == nil {
		t.Error("an unknown add-on was found")
	}
}
