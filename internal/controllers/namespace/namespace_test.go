package namespace_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

func TestNamespaceLife(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	namespaces := client.For[*corev1.Namespace](c)
	accounts := client.For[*corev1.ServiceAccount](c).Namespace("shop")
	maps := client.For[*corev1.ConfigMap](c).Namespace("shop")
	pods := client.For[*corev1.Pod](c).Namespace("shop")

	create := func() {
		t.Helper()
		if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}); err != nil {
			t.Fatal(err)
		}
		waittest.One(t, accounts, "default", "the account", func(*corev1.ServiceAccount) bool { return true })
		waittest.One(t, maps, "kube-root-ca.crt", "the authority", func(m *corev1.ConfigMap) bool { return m.Data["ca.crt"] != "" })
	}
	remove := func() {
		t.Helper()
		if err := namespaces.Delete(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
	}

	create()
	if err := accounts.Delete(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, accounts, "default", "the account to come back", func(a *corev1.ServiceAccount) bool { return a.DeletionTimestamp == nil })

	for i := range 10 {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i), Namespace: "shop"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		if _, err := pods.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	waittest.For(t, pods, "running pods", "", func(have map[string]*corev1.Pod) bool {
		n := 0
		for _, p := range have {
			if p.Status.Phase == corev1.PodRunning {
				n++
			}
		}
		return n == 10
	})
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Namespace: "shop", Finalizers: []string{"example.com/hold"}}}
	if _, err := maps.Create(t.Context(), held); err != nil {
		t.Fatal(err)
	}

	remove()
	waittest.One(t, namespaces, "shop", "the report of what holds it", func(ns *corev1.Namespace) bool {
		for _, c := range ns.Status.Conditions {
			if c.Type == corev1.NamespaceFinalizersRemaining && c.Status == corev1.ConditionTrue {
				return c.Message == "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
			}
		}
		return false
	})
	if _, err := maps.Patch(t.Context(), "held", client.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": []string{}}})); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, namespaces, "shop")

	create() // again, with all of the first contents gone
	if list, err := pods.List(t.Context()); err != nil || len(list.Items) != 0 {
		t.Errorf("pods in the new namespace: %d, %v", len(list.Items), err)
	}
	remove()
	waittest.Gone(t, namespaces, "shop")
}
