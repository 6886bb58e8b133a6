//go:build linux && realnode

package realnode

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// onRealNodes keeps a pod away from simulated nodes.
func onRealNodes(spec *corev1.PodSpec) {
	spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpNotIn, Values: []string{simulated},
		}}}},
	}}}
}

// TestDrain drains a real node for maintenance. A PodDisruptionBudget delays it; the pods move to the other
// real node, and a DaemonSet's stays.
func TestDrain(t *testing.T) {
	ns, other, node := namespace(t), cluster.Nodes[0], cluster.Nodes[1]
	agent := startAgents(t, ns)[node.Name]
	web := startOn(t, ns, node.Name, other.Name)
	budget, err := cluster.Client.PolicyV1().PodDisruptionBudgets(ns).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt(len(web))), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	must(t, until(t.Context(), cluster.Client.PolicyV1().RESTClient(), "poddisruptionbudgets", ns, budget.Name, "observed", func(b *policyv1.PodDisruptionBudget) bool {
		return b.Status.CurrentHealthy == int32(len(web))
	}))
	t.Cleanup(func() { kubectl(t, "uncordon", node.Name) })

	t.Run("refused without flags", func(t *testing.T) {
		out, err := cluster.Kubectl("drain", node.Name).CombinedOutput()
		if err == nil {
			t.Error("kubectl drain has no error")
		}
		for _, want := range []string{"cannot delete DaemonSet-managed Pods", "--ignore-daemonsets", "cannot delete Pods with local storage", "--delete-emptydir-data"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("no %q in %s", want, out)
			}
		}
		unmoved(t, ns, web)
	})

	drain := cluster.Kubectl("drain", node.Name, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout="+patience.String())
	var out bytes.Buffer
	drain.Stdout = &out
	problems, err := drain.StderrPipe()
	must(t, err)
	must(t, drain.Start())
	defer drain.Process.Kill()
	lines := bufio.NewScanner(problems)
	delayed := false
	for !delayed && lines.Scan() {
		delayed = strings.Contains(lines.Text(), "would violate the pod's disruption budget")
	}
	if !delayed {
		t.Fatalf("kubectl drain was not delayed by the budget: %v\n%s", drain.Wait(), &out)
	}
	unmoved(t, ns, web)

	fewest := watchReady(t, ns, len(web))
	_, err = cluster.Client.PolicyV1().PodDisruptionBudgets(ns).Patch(t.Context(), budget.Name, types.MergePatchType,
		fmt.Appendf(nil, `{"spec": {"minAvailable": %d}}`, len(web)-1), metav1.PatchOptions{})
	must(t, err)
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	if err := drain.Wait(); err != nil {
		t.Fatalf("kubectl drain: %v\n%s\n%s", err, &out, strings.Join(rest, "\n"))
	}
	for _, pod := range web {
		if want := "pod/" + pod.Name + " evicted"; !strings.Contains(out.String(), want) {
			t.Errorf("kubectl drain: no %q in %s", want, &out)
		}
	}
	must(t, cluster.UntilDeployment(t.Context(), ns, "web"))
	if n := fewest(); n < len(web)-1 {
		t.Errorf("%d pods were Ready during the drain, want %d at least", n, len(web)-1)
	}
	for _, pod := range podsOf(t, ns, "web") {
		if pod.Spec.NodeName != other.Name {
			t.Errorf("pod %s is on %s, want %s", pod.Name, pod.Spec.NodeName, other.Name)
		}
	}
	now, err := cluster.Client.CoreV1().Pods(ns).Get(t.Context(), agent.Name, metav1.GetOptions{})
	must(t, err)
	if now.UID != agent.UID || !podReady(now) {
		t.Errorf("the DaemonSet's pod on %s is %v, before %v", node.Name, now.Status, agent.Status)
	}
	if left := node.Processes("agnhost"); len(left) != 1 {
		t.Errorf("processes of containers on %s: %v, want the DaemonSet's", node.Name, left)
	}

	t.Run("cordoned until uncordon", func(t *testing.T) {
		pod := agnhost(ns, "waiting", "")
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node.Name}
		_, err := cluster.Client.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{})
		must(t, err)
		must(t, cluster.UntilPod(t.Context(), ns, pod.Name, "unschedulable", func(p *corev1.Pod) bool {
			return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable && strings.Contains(c.Message, "1 node(s) were unschedulable")
			})
		}))
		kubectl(t, "uncordon", node.Name)
		must(t, cluster.UntilPod(t.Context(), ns, pod.Name, "Ready on "+node.Name, func(p *corev1.Pod) bool { return podReady(p) && p.Spec.NodeName == node.Name }))
	})
	must(t, cluster.UntilDeployment(t.Context(), "kube-system", "coredns"))
}

// startAgents creates a DaemonSet for real nodes, and returns its pods by their nodes.
func startAgents(t *testing.T, ns string) map[string]*corev1.Pod {
	t.Helper()
	template := agnhost(ns, "agent", "")
	onRealNodes(&template.Spec)
	_, err := cluster.Client.AppsV1().DaemonSets(ns).Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	must(t, until(t.Context(), cluster.Client.AppsV1().RESTClient(), "daemonsets", ns, "agent", "Ready on each real node", func(d *appsv1.DaemonSet) bool {
		return d.Status.ObservedGeneration == d.Generation && int(d.Status.NumberReady) == len(cluster.Nodes)
	}))
	agents := map[string]*corev1.Pod{}
	for _, pod := range podsOf(t, ns, "agent") {
		agents[pod.Spec.NodeName] = &pod
	}
	return agents
}

// startOn creates the Deployment web with an emptyDir for real nodes, of which one is cordoned meanwhile, and returns
// its pods, which are all on the other one.
func startOn(t *testing.T, ns, node, cordoned string) []corev1.Pod {
	t.Helper()
	kubectl(t, "cordon", cordoned)
	defer kubectl(t, "uncordon", cordoned)
	template := agnhost(ns, "web", "")
	onRealNodes(&template.Spec)
	template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	_, err := cluster.Client.AppsV1().Deployments(ns).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels}, Spec: template.Spec},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	must(t, cluster.UntilDeployment(t.Context(), ns, "web"))
	pods := podsOf(t, ns, "web")
	for _, pod := range pods {
		if pod.Spec.NodeName != node {
			t.Errorf("pod %s is on %s, want %s because %s is cordoned", pod.Name, pod.Spec.NodeName, node, cordoned)
		}
	}
	return pods
}

func podsOf(t *testing.T, ns, app string) []corev1.Pod {
	t.Helper()
	pods, err := cluster.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	must(t, err)
	return pods.Items
}

// unmoved checks that pods of the Deployment web are where they were, and Ready.
func unmoved(t *testing.T, ns string, before []corev1.Pod) {
	t.Helper()
	now := podsOf(t, ns, "web")
	if len(now) != len(before) {
		t.Errorf("%d pods, before %d", len(now), len(before))
	}
	for _, pod := range now {
		same := slices.ContainsFunc(before, func(b corev1.Pod) bool { return b.UID == pod.UID })
		if !same || pod.DeletionTimestamp != nil || !podReady(&pod) {
			t.Errorf("pod %s on %s: new or not Ready", pod.Name, pod.Spec.NodeName)
		}
	}
}

// watchReady returns a function that ends a watch and returns how few pods of the Deployment web were Ready at any moment
// since there were so many.
func watchReady(t *testing.T, ns string, all int) (fewest func() int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w, err := cluster.Client.CoreV1().Pods(ns).Watch(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	must(t, err)
	ended := make(chan int)
	go func() {
		ready := map[types.UID]bool{}
		least, reached := all, false
		for event := range w.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			if podReady(pod) && pod.DeletionTimestamp == nil {
				ready[pod.UID] = true
			} else {
				delete(ready, pod.UID)
			}
			if reached = reached || len(ready) >= all; reached {
				least = min(least, len(ready))
			}
		}
		ended <- least
	}()
	return func() int {
		stop()
		return <-ended
	}
}
