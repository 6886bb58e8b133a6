package compat

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Our node lifecycle controller opens nodes, closes them, drives pods away and
// notices silence on upstream's API server. The nodes have no kubelets.
func TestOurNodeControllerOnUpstreamsServer(t *testing.T) {
	up := startUpstream(t)
	start(t, bin.fairlead, "controllers", "--kubeconfig", up.kubeconfig)
	ctx := context.Background()
	nodes, pods := up.clients.CoreV1().Nodes(), up.clients.CoreV1().Pods("default")
	rest := up.clients.CoreV1().RESTClient()
	report := func(name string, ready corev1.ConditionStatus) {
		t.Helper()
		now := time.Now().UTC().Format(time.RFC3339)
		patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"Test","lastHeartbeatTime":%q,"lastTransitionTime":%q}]}}`, ready, now, now)
		if _, err := nodes.Patch(ctx, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
	has := func(n *corev1.Node, key string, effect corev1.TaintEffect) bool {
		return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key && t.Effect == effect })
	}
	watch := func(name string) cache.ListerWatcher {
		return cache.NewListWatchFromClient(rest, "nodes", "", one(name))
	}
	for _, name := range []string{"quiet", "sick", "well"} {
		n, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil || !has(n, corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule) {
			t.Fatalf("a new node: %v, %v", n.Spec.Taints, err)
		}
		report(name, corev1.ConditionTrue)
		until(t, watch(name), "the node "+name+" open", func(n *corev1.Node) bool { return len(n.Spec.Taints) == 0 })
	}

	until(t, cache.NewListWatchFromClient(rest, "serviceaccounts", "default", one("default")),
		"the default service account", func(*corev1.ServiceAccount) bool { return true })
	for name, seconds := range map[string]int64{"patient": 300, "hasty": 0} {
		if _, err := pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{
				NodeName: "sick", Containers: []corev1.Container{{Name: "c", Image: "i"}},
				Tolerations: []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists,
					Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}},
			},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	report("sick", corev1.ConditionFalse)
	until(t, watch("sick"), "the node that is not ready tainted", func(n *corev1.Node) bool {
		return has(n, corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule) && has(n, corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	})
	until(t, cache.NewListWatchFromClient(rest, "pods", "default", one("hasty")), "the pod that tolerates nothing evicted, with the reason", func(p *corev1.Pod) bool {
		return p.DeletionTimestamp != nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.DisruptionTarget && c.Reason == "DeletionByTaintManager"
		})
	})
	until(t, cache.NewListWatchFromClient(rest, "events", "default", fields.OneTermEqualSelector("reason", "TaintManagerEviction")),
		"the event of the eviction", func(e *corev1.Event) bool { return e.InvolvedObject.Name == "hasty" })
	report("sick", corev1.ConditionTrue)
	until(t, watch("sick"), "it open again", func(n *corev1.Node) bool { return len(n.Spec.Taints) == 0 })
	if p, err := pods.Get(ctx, "patient", metav1.GetOptions{}); err != nil || p.DeletionTimestamp != nil {
		t.Errorf("the pod that tolerates it for a while: %v", err)
	}
	until(t, watch("quiet"), "the silent node unknown after its 50 s", func(n *corev1.Node) bool {
		c := n.Status.Conditions[0]
		return c.Status == corev1.ConditionUnknown && c.Reason == "NodeStatusUnknown" && has(n, corev1.TaintNodeUnreachable, corev1.TaintEffectNoSchedule)
	})
}
