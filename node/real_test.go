package node_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/node"
)

// registered registers a Node as a kubelet does.
func registered(t *testing.T, env controller.Env, name string) *corev1.Node {
	t.Helper()
	nodes := client.For[*corev1.Node](env.Client)
	n, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err == nil {
		n.Status.NodeInfo.KubeletVersion = "v1.36.3"
		n, err = nodes.UpdateStatus(t.Context(), n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRealNode checks that a Node that a kubelet has registered is left alone, that the other nodes run, and that one
// without a kubelet is taken over and marked.
func TestRealNode(t *testing.T) {
	env := served(t)
	nodes := client.For[*corev1.Node](env.Client)
	first := registered(t, env, "node-1")
	if _, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-2", Labels: map[string]string{"by": "hand"}}}); err != nil {
		t.Fatal(err)
	}
	ns := node.New(env, node.Options{Count: 3})
	stop := startNodes(t, ns)
	<-ns.Joined()
	stop()
	now, err := nodes.Get(t.Context(), "node-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, now); diff != "" {
		t.Errorf("the real node has changed:%s", diff)
	}
	for _, name := range []string{"node-2", "node-3"} {
		n, err := nodes.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if n.Annotations["fairlead.dev/simulated"] != "true" || n.Status.NodeInfo.KubeletVersion == "" || (n.Labels["by"] == "hand") != (name == "node-2") {
			t.Errorf("%s is %+v", name, n)
		}
	}
}

// TestReplacedByReal checks that a simulated node whose Node was deleted writes neither the Node nor the lease of the kubelet
// that has registered with its name since.
func TestReplacedByReal(t *testing.T) {
	for name, late := range map[string]bool{"renews its lease": false, "reports its status": true} {
		t.Run(name, func(t *testing.T) {
			env := served(t)
			nodes := client.For[*corev1.Node](env.Client)
			leases := client.For[*coordinationv1.Lease](env.Client).Namespace("kube-node-lease")
			k, err := node.New(env, node.Options{Count: 1}).First()
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Register(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := k.KeepAlive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := nodes.Delete(t.Context(), "node-1", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := leases.Delete(t.Context(), "node-1", metav1.DeleteOptions{}); err != nil { // as the garbage collector does
				t.Fatal(err)
			}
			first := registered(t, env, "node-1")
			lease, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
			if err != nil {
				t.Fatal(err)
			}
			if late {
				k.ReportDue()
			}
			if next, err := k.KeepAlive(t.Context()); err != nil || !next.IsZero() {
				t.Errorf("the simulated node goes on at %v: %v", next, err)
			}
			now, err := nodes.Get(t.Context(), "node-1")
			if err != nil {
				t.Fatal(err)
			}
			renewed, err := leases.Get(t.Context(), "node-1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first, now) + cmp.Diff(lease, renewed); diff != "" {
				t.Errorf("it wrote:%s", diff)
			}
		})
	}
}
