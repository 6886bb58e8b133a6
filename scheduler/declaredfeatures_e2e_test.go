package scheduler_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// TestDeclaredFeatures: a pod that needs a feature of its node runs on a simulated node, which declares it, and waits for another
// node to declare it. Such a node refuses a change of the pod that it cannot make.
func TestDeclaredFeatures(t *testing.T) {
	const old, feature = "old", "RestartAllContainersOnContainerExits"
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: 1})
	ctx, c := t.Context(), env.Client(t)
	account(t, c)
	pods, nodes := client.For[*corev1.Pod](c).Namespace("default"), client.For[*corev1.Node](c)
	room := corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("10")}
	if _, err := nodes.Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: old, Labels: map[string]string{corev1.LabelHostname: old, corev1.LabelOSStable: "linux"}},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
	}); err != nil {
		t.Fatal(err)
	}
	create := func(name, node string) {
		t.Helper()
		p := pod(name, "1")
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} // no kubelet reports for the old node
		never := corev1.ContainerRestartPolicyNever
		p.Spec.Containers[0].RestartPolicy = &never
		p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action:    corev1.ContainerRestartRuleActionRestartAllContainers,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{88}},
		}}
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "nginx", Resources: p.Spec.Containers[0].Resources}}
		if node != "" {
			p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
		}
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
	}

	create("anywhere", "")
	if p := await(t, pods, "anywhere", "running", running); p.Spec.NodeName == old {
		t.Errorf("it runs on %s, which does not declare the feature", old)
	}
	simulated, err := nodes.Get(ctx, "node-1")
	if err != nil {
		t.Fatal(err)
	}
	if has := strings.Join(simulated.Status.DeclaredFeatures, " "); !strings.Contains(has, feature) {
		t.Errorf("a simulated node declares %q", has)
	}

	create("there", old)
	held(t, pods, "there", "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match Pod's required features. "+
		"preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	if _, err := nodes.Patch(ctx, old, client.MergePatch(map[string]any{"status": map[string]any{"declaredFeatures": []string{feature}}}).On("status")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "there", "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName == old })

	_, err = pods.Patch(ctx, "there", client.StrategicPatch(map[string]any{"spec": map[string]any{"initContainers": []any{
		map[string]any{"name": "i", "resources": map[string]any{"requests": map[string]any{"cpu": "2"}}},
	}}}).On("resize"))
	const refused = "pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node"
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refused) {
		t.Errorf("resize on a node that cannot: %v", err)
	}
}
