package ttl_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// The TTL is 0 up to a hundred nodes, then 15, and 0 again below ninety; existing nodes follow with their next
// change.
func TestNodesAreTold(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"ttl"}})
	nodes, ctx := client.For[*corev1.Node](env.Client(t)), t.Context()
	create := func(i int) {
		t.Helper()
		if _, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	told := func(i int, want string) {
		t.Helper()
		waittest.One(t, nodes, fmt.Sprint("n", i), "the node to be told "+want, func(n *corev1.Node) bool {
			return n.Annotations["node.alpha.kubernetes.io/ttl"] == want
		})
	}
	change := func(i int, value any) {
		t.Helper()
		if _, err := nodes.Patch(ctx, fmt.Sprint("n", i), client.MergePatch(map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"node.alpha.kubernetes.io/ttl": value}},
		})); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i <= 100; i++ {
		create(i)
	}
	told(1, "0")
	told(100, "0")
	create(101)
	told(101, "15")
	change(1, "nonsense")
	told(1, "15")
	for i := 2; i <= 12; i++ { // 90 are left, which is in both steps
		if err := nodes.Delete(ctx, fmt.Sprint("n", i)); err != nil {
			t.Fatal(err)
		}
	}
	change(1, nil)
	told(1, "15")
	if err := nodes.Delete(ctx, "n13"); err != nil {
		t.Fatal(err)
	}
	create(200) // 90 again, from below
	told(200, "0")
}
