package node_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/node"
	"fairlead.dev/testenv"
)

// bubble is a control plane with one node in a bubble, seen by a client.
type bubble struct {
	*testing.T
	client *client.Client
	nodes  client.Resource[*corev1.Node]
	pods   client.Resource[*corev1.Pod]
	events client.Resource[*corev1.Event]
}

// inBubble runs a test with a control plane whose node-1 has the annotations, and with objects of kwok's kinds.
func inBubble(t *testing.T, annotations map[string]string, test func(b *bubble), stages ...any) {
	synctest.Test(t, func(t *testing.T) {
		c := testenv.New(t, testenv.Options{Bubble: true, Nodes: 1, Stages: testenv.Objects{Values: stages}}).Client(t)
		b := &bubble{t, c, client.For[*corev1.Node](c), client.For[*corev1.Pod](c).Namespace("default"), client.For[*corev1.Event](c).Namespace("default")}
		await(t, b.nodes, "node-1", "ready", ready)
		b.annotate(annotations)
		time.Sleep(time.Second)
		test(b)
	})
}

func (b *bubble) annotate(annotations map[string]string) {
	b.Helper()
	values := map[string]any{}
	for name, value := range annotations {
		if values[name] = value; value == "" {
			values[name] = nil
		}
	}
	if _, err := b.nodes.Patch(b.Context(), "node-1", client.MergePatch(map[string]any{"metadata": map[string]any{"annotations": values}})); err != nil {
		b.Fatal(err)
	}
}

// create makes a pod on the node, whose container uses memory.
func (b *bubble) create(name, memory string, change func(*corev1.Pod)) {
	b.Helper()
	p := boundPod(name, "node-1", corev1.RestartPolicyAlways)
	if memory != "" {
		p.Annotations = map[string]string{"kwok.x-k8s.io/usage-memory": memory}
	}
	if change != nil {
		change(p)
	}
	if _, err := b.pods.Create(b.Context(), p); err != nil {
		b.Fatal(err)
	}
}

func (b *bubble) annotatePod(name, annotation, value string) {
	b.Helper()
	if _, err := b.pods.Patch(b.Context(), name, client.MergePatch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotation: value}}})); err != nil {
		b.Fatal(err)
	}
}

func (b *bubble) pod(name string) *corev1.Pod {
	b.Helper()
	p, err := b.pods.Get(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// areRunning checks which of the pods run.
func (b *bubble) areRunning(names ...string) {
	b.Helper()
	list, err := b.pods.List(b.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
	if err != nil {
		b.Fatal(err)
	}
	var got []string
	for _, p := range list.Items {
		got = append(got, p.Name)
	}
	if slices.Sort(got); !slices.Equal(got, names) {
		b.Errorf("running: %q, want %q", got, names)
	}
}

// condition checks a condition of the node.
func (b *bubble) condition(is corev1.NodeConditionType, want string) {
	b.Helper()
	n, err := b.nodes.Get(b.Context(), "node-1")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range n.Status.Conditions {
		if got := fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message); c.Type == is && got != want {
			b.Errorf("%s: %s, want %s", is, got, want)
		}
	}
}

// tainted checks whether the node has a taint.
func (b *bubble) tainted(key string, want bool) {
	b.Helper()
	n, err := b.nodes.Get(b.Context(), "node-1")
	if err != nil {
		b.Fatal(err)
	}
	if has := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key }); has != want {
		b.Errorf("taints %v, want %s: %v", n.Spec.Taints, key, want)
	}
}

// outOfService taints the node by hand, as for a machine that is off.
func (b *bubble) outOfService() {
	b.Helper()
	if _, err := b.nodes.Patch(b.Context(), "node-1", client.StrategicPatch(map[string]any{"spec": map[string]any{"taints": []any{
		map[string]any{"key": corev1.TaintNodeOutOfService, "value": "nodeshutdown", "effect": "NoExecute"}}}})); err != nil {
		b.Fatal(err)
	}
}

// scrape reads a path of node-1's kubelet through the server.
func (b *bubble) scrape(path string) []byte {
	b.Helper()
	res, err := b.client.REST().Do(b.Context(), client.Request{Method: http.MethodGet, Path: "/api/v1/nodes/node-1/proxy" + path})
	if err != nil {
		b.Fatal(err)
	}
	return res.Body
}

// told checks that there is an event with a reason and a message.
func (b *bubble) told(about, reason, message string) {
	b.Helper()
	list, err := b.events.List(b.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + about + ",reason=" + reason})
	if err != nil {
		b.Fatal(err)
	}
	var all []string
	for _, e := range list.Items {
		if e.Message == message {
			return
		}
		all = append(all, e.Message)
	}
	b.Errorf("events %s of %s: %q, want %q", reason, about, all, message)
}

// failed checks the reason and the message of a pod that has failed, and its condition DisruptionTarget.
func (b *bubble) failed(name, reason, message string, target bool) {
	b.Helper()
	s := b.pod(name).Status
	if s.Phase != corev1.PodFailed || s.Reason != reason || s.Message != message {
		b.Errorf("%s is %s (%s: %q), want %s: %q", name, s.Phase, s.Reason, s.Message, reason, message)
	}
	has := slices.ContainsFunc(s.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == "TerminationByKubelet" && c.Message == message
	})
	if has != target {
		b.Errorf("%s: conditions %+v", name, s.Conditions)
	}
}

const kubeletConfig = `{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", `

func asking(memory string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse(memory)}
	}
}

// TestMemoryPressure: pods end one after the other, those that use more than they request first, until enough is free. The
// node has the condition, and refuses BestEffort pods, for the transition period.
func TestMemoryPressure(t *testing.T) {
	inBubble(t, map[string]string{node.KubeletConfigAnnotation: kubeletConfig + `"evictionHard": {"memory.available": "6Gi"}, "evictionPressureTransitionPeriod": "2m"}`}, func(b *bubble) {
		n, err := b.nodes.Get(b.Context(), "node-1")
		if err != nil {
			t.Fatal(err)
		}
		if free := n.Status.Allocatable.Memory().String(); free != "250Gi" {
			t.Errorf("allocatable: %s", free)
		}
		b.create("within", "100Gi", asking("120Gi"))
		b.create("above", "60Gi", asking("20Gi"))
		b.create("most", "70Gi", nil)
		b.create("critical", "22Gi", func(p *corev1.Pod) { critical(p) })
		time.Sleep(25 * time.Second)
		b.areRunning("above", "critical", "within") // 182Gi are used without the other
		const low = "The node was low on resource: memory. Threshold quantity: 6Gi, available: 4Gi. Container c was using 70Gi, request is 0, has larger consumption of memory. "
		b.failed("most", "Evicted", low, true)
		b.told("most", "Evicted", low)
		b.told("node-1", "EvictionThresholdMet", "Attempting to reclaim memory")
		b.told("node-1", "NodeHasInsufficientMemory", "Node node-1 status is now: NodeHasInsufficientMemory")
		b.condition(corev1.NodeMemoryPressure, "True KubeletHasInsufficientMemory: kubelet has insufficient memory available")
		b.tainted(corev1.TaintNodeMemoryPressure, true)

		b.create("late", "1Mi", nil)
		b.create("burstable", "1Mi", asking("1Gi"))
		b.create("tolerant", "1Mi", func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists}}
		})
		time.Sleep(time.Second)
		b.areRunning("above", "burstable", "critical", "tolerant", "within")
		b.failed("late", "Evicted", "Pod was rejected: The node had condition: [MemoryPressure]. ", false)

		time.Sleep(2 * time.Minute)
		b.condition(corev1.NodeMemoryPressure, "False KubeletHasSufficientMemory: kubelet has sufficient memory available")
		b.tainted(corev1.TaintNodeMemoryPressure, false)

		// The usage of the machine itself: pods end one after the other, and critical ones never.
		b.annotate(map[string]string{node.SystemUsageAnnotation: "memory=230Gi"})
		time.Sleep(time.Minute)
		b.areRunning("critical")
		b.failed("above", "Evicted", "The node was low on resource: memory. Threshold quantity: 6Gi, available: 0. Container c was using 60Gi, request is 20Gi, has larger consumption of memory. ", true)
	})
}

// TestSoftPressure: pods end after the grace period of the threshold, and have the time that the configuration gives them.
func TestSoftPressure(t *testing.T) {
	inBubble(t, map[string]string{node.KubeletConfigAnnotation: kubeletConfig + `"evictionSoft": {"nodefs.available": "50%"}, "evictionSoftGracePeriod": {"nodefs.available": "90s"}, "evictionMaxPodGracePeriod": 20}`}, func(b *bubble) {
		b.create("other", "", nil)
		time.Sleep(time.Second)
		b.create("logs", "", func(p *corev1.Pod) {
			p.Annotations = map[string]string{"fairlead.dev/usage-ephemeral-storage": "60Gi", "fairlead.dev/terminate-after": "10m"}
		})
		time.Sleep(80 * time.Second)
		b.condition(corev1.NodeDiskPressure, "True KubeletHasDiskPressure: kubelet has disk pressure")
		b.areRunning("logs", "other")
		time.Sleep(25 * time.Second)
		b.areRunning("logs", "other")
		time.Sleep(20 * time.Second)
		b.areRunning("other")
		b.failed("logs", "Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 50Gi, available: 40Gi. Container c was using 60Gi, request is 0, has larger consumption of ephemeral-storage. ", true)
		b.create("refused", "", asking("1Gi"))
		time.Sleep(time.Second)
		b.failed("refused", "Evicted", "Pod was rejected: The node had condition: [DiskPressure]. ", false)
	})
}

// TestPIDPressure: of pods of the same priority the one with the most processes ends.
func TestPIDPressure(t *testing.T) {
	inBubble(t, map[string]string{node.KubeletConfigAnnotation: kubeletConfig + `"evictionHard": {"pid.available": "10%"}}`, node.SystemUsageAnnotation: "processes=3500000"}, func(b *bubble) {
		for _, of := range [][2]string{{"quiet", "10"}, {"fork", "300k"}} {
			b.create(of[0], "", func(p *corev1.Pod) { p.Annotations = map[string]string{"fairlead.dev/usage-processes": of[1]} })
		}
		time.Sleep(25 * time.Second)
		b.areRunning("quiet")
		b.condition(corev1.NodePIDPressure, "True KubeletHasInsufficientPID: kubelet has insufficient PID available")
		b.failed("fork", "Evicted", "The node was low on resource: pids. Threshold quantity: 419430, available: 394294. ", true)
	})
}

// TestLimits: a container over the limit of its memory is killed and restarts with back-off, and a pod over the limits of its
// ephemeral storage is evicted.
func TestLimits(t *testing.T) {
	inBubble(t, nil, func(b *bubble) {
		limit := func(name corev1.ResourceName, amount string) func(*corev1.Pod) {
			return func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{name: resource.MustParse(amount)}
			}
		}
		b.create("leak", "2Gi", limit("memory", "1Gi"))
		b.create("enough", "2Gi", limit("memory", "2Gi"))
		b.create("disk", "", func(p *corev1.Pod) {
			limit("ephemeral-storage", "1Gi")(p)
			p.Annotations = map[string]string{"fairlead.dev/usage-ephemeral-storage": "2Gi"}
		})
		time.Sleep(15 * time.Second)
		c := b.pod("leak").Status.ContainerStatuses[0]
		if last := c.LastTerminationState.Terminated; last == nil || last.Reason != "OOMKilled" || last.ExitCode != 137 || c.RestartCount != 2 || c.State.Waiting == nil || c.State.Waiting.Reason != "CrashLoopBackOff" {
			t.Errorf("leak: %+v", c)
		}
		if c := b.pod("enough").Status.ContainerStatuses[0]; c.State.Running == nil || c.RestartCount != 0 {
			t.Errorf("enough: %+v", c)
		}
		b.failed("disk", "Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ", false)
		b.annotatePod("leak", "kwok.x-k8s.io/usage-memory", "1Mi")
		time.Sleep(time.Minute)
		if c := b.pod("leak").Status.ContainerStatuses[0]; c.State.Running == nil {
			t.Errorf("leak: %+v", c)
		}
	})
}
