package node_test

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// TestStartInOutage checks that a node that starts during its outage writes no lease, and one that has
// renewed its lease shortens it once.
func TestStartInOutage(t *testing.T) {
	env := served(t)
	nodes := client.For[*corev1.Node](env.Client)
	leases := client.For[*coordinationv1.Lease](env.Client).Namespace("kube-node-lease")
	dark := func(on any) *corev1.Node {
		t.Helper()
		n, err := nodes.Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{node.OutageAnnotation: on}}}))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	k, err := node.New(env, node.Options{Count: 1, RareHeartbeats: true}).First()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	beat := func() {
		t.Helper()
		if _, err := k.KeepAlive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	k.Observe(dark("true"))
	beat()
	if l, err := leases.Get(t.Context(), "node-1"); !apierrors.IsNotFound(err) {
		t.Fatalf("a lease of a node that started in an outage: %+v, %v", l, err)
	}
	seconds := func() int32 {
		t.Helper()
		l, err := leases.Get(t.Context(), "node-1")
		if err != nil {
			t.Fatal(err)
		}
		return *l.Spec.LeaseDurationSeconds
	}
	k.Observe(dark(nil))
	beat()
	if got := seconds(); got != 3600 {
		t.Errorf("a lease of %d s", got)
	}
	k.Observe(dark("true"))
	beat()
	if got := seconds(); got != 40 {
		t.Errorf("a lease of %d s since the outage", got)
	}
}
