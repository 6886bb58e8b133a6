package schedulerplugins_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/schedulerplugins"
	"fairlead.dev/testenv"
)

const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// cluster is a control plane whose scheduler has plugins.
type cluster struct {
	*testing.T
	env     *testenv.Env
	clients *kubernetes.Clientset
}

// start starts a control plane, and the scheduler with a configuration.
func start(t *testing.T, nodes int, configuration string, opts ...schedulerplugins.Option) *cluster {
	t.Helper()
	c := newCluster(t, nodes)
	c.run(configuration, opts...)
	return c
}

// newCluster starts a control plane without a scheduler.
func newCluster(t *testing.T, nodes int) *cluster {
	t.Helper()
	env := testenv.New(t, testenv.Options{Nodes: nodes, NoScheduler: true, Controllers: []string{"serviceaccount", "nodelifecycle"}})
	clients, err := kubernetes.NewForConfig(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	env.Eventually(t, "the service account", func(ctx context.Context) error {
		_, err := clients.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return &cluster{t, env, clients}
}

// run runs the scheduler until the test ends.
func (c *cluster) run(configuration string, opts ...schedulerplugins.Option) {
	ctx, cancel := context.WithCancel(c.Context())
	done := make(chan error, 1)
	go func() { done <- schedulerplugins.Run(ctx, c.env.Config(), []byte(header+configuration), opts...) }()
	c.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			c.Error(err)
		}
	})
}

// mark sets labels or annotations of a node.
func (c *cluster) mark(node, what, key, value string) {
	c.Helper()
	patch := fmt.Sprintf(`{"metadata":{%q:{%q:%q}}}`, what, key, value)
	c.env.Eventually(c.T, "node "+node, func(ctx context.Context) error {
		_, err := c.clients.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

func (c *cluster) pod(name string, change ...func(*corev1.Pod)) {
	c.Helper()
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}
	p.Name, p.Annotations, p.Labels = name, map[string]string{}, map[string]string{}
	for _, f := range change {
		f(p)
	}
	if _, err := c.clients.CoreV1().Pods("default").Create(c.Context(), p, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

func annotated(pairs ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for i := 0; i < len(pairs); i += 2 {
			p.Annotations["example.com/"+pairs[i]] = pairs[i+1]
		}
	}
}

func inGang(name string, size int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels[gangLabel] = name
		annotated("size", fmt.Sprint(size))(p)
	}
}

func requesting(cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

// get waits until done holds for a pod.
func (c *cluster) get(name, what string, done func(*corev1.Pod) bool) (p *corev1.Pod) {
	c.Helper()
	c.env.Eventually(c.T, name+" to be "+what, func(ctx context.Context) (err error) {
		if p, err = c.clients.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !done(p) {
			return fmt.Errorf("pod on %q, conditions %+v", p.Spec.NodeName, p.Status.Conditions)
		}
		return nil
	})
	return p
}

func (c *cluster) bound(name string) string {
	c.Helper()
	return c.get(name, "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }).Spec.NodeName
}

// held waits until a pod is unschedulable with a message that has a part.
func (c *cluster) held(name, part string) {
	c.Helper()
	c.get(name, "held", func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(of corev1.PodCondition) bool {
			return of.Type == corev1.PodScheduled && strings.Contains(of.Message, part)
		})
	})
}

// A gang waits for its pods, and for room for all of them.
func TestPermit(t *testing.T) {
	c := start(t, 1, "profiles: [{plugins: {multiPoint: {enabled: [{name: Gang}]}}}]", schedulerplugins.WithPlugin("Gang", newGang))
	c.pod("a-1", inGang("a", 2))
	c.held("a-1", "0/1 nodes are available: gang a has 1 of 2 pods.")
	c.pod("alone")
	c.bound("alone")
	c.pod("a-2", inGang("a", 2))
	c.bound("a-1")
	c.bound("a-2")

	half := c.mostCPU("node-1")
	c.pod("b-1", inGang("b", 2), requesting(half))
	c.pod("b-2", inGang("b", 2), requesting(half))
	c.held("b-1", "gang b does not fit")
	c.held("b-2", "Insufficient cpu")
	if p := c.get("b-1", "there", func(*corev1.Pod) bool { return true }); p.Spec.NodeName != "" {
		t.Errorf("half a gang is on %s", p.Spec.NodeName)
	}
}

// Plugins score nodes by their arguments; an error of a score is the pod's.
func TestScore(t *testing.T) {
	c := newCluster(t, 3)
	c.mark("node-2", "labels", "example.com/rank", "40")
	c.run(`
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: Rank, weight: 100}]}}
  pluginConfig: [{name: Rank, args: {label: example.com/rank}}]
- schedulerName: bad
  plugins: {multiPoint: {enabled: [{name: Rank}]}}
  pluginConfig: [{name: Rank, args: {label: kubernetes.io/hostname}}]`, schedulerplugins.WithPlugin("Rank", newRank))
	for i := range 3 {
		name := fmt.Sprintf("p-%d", i)
		if c.pod(name); c.bound(name) != "node-2" {
			t.Errorf("%s on %s", name, c.bound(name))
		}
	}
	c.pod("bad", func(p *corev1.Pod) { p.Spec.SchedulerName = "bad" })
	c.held("bad", `running Score plugin "Rank": label kubernetes.io/hostname: strconv.ParseInt`)
}

// All points from PreEnqueue to PostBind run, with the plugin's own events.
func TestPoints(t *testing.T) {
	tr := &tracer{}
	c := start(t, 2, `
profiles:
- plugins:
    queueSort: {enabled: [{name: Tracer}], disabled: [{name: PrioritySort}]}
    bind: {enabled: [{name: Tracer}, {name: DefaultBinder}]}
    multiPoint: {enabled: [{name: Tracer}]}`, schedulerplugins.WithPlugin("Tracer", tr.factory))
	c.pod("pinned", annotated("on", "node-2"))
	if on := c.bound("pinned"); on != "node-2" {
		t.Errorf("pinned on %s", on)
	}
	c.pod("own", annotated("bind", "yes", "on", "node-1"))
	c.bound("own")
	want := "[PreFilter of 2 Reserve node-1node-1 PreBind Bind PostBind node-1]"
	c.env.Eventually(t, "PostBind", func(context.Context) error {
		if got := fmt.Sprint(tr.calls("own")); got != want {
			return fmt.Errorf("calls %s, want %s", got, want)
		}
		return nil
	})

	c.pod("fails", annotated("fail", "yes", "on", "node-1"))
	c.bound("fails")
	if calls := tr.calls("fails"); !slices.Contains(calls, "Unreserve") {
		t.Errorf("calls of a pod whose first PreBind failed: %v", calls)
	}

	c.pod("needs", annotated("needs", "later"))
	c.pod("blue", annotated("colour", "blue"))
	c.held("blue", "node(s) had another colour")
	if calls := tr.calls("needs"); len(calls) > 0 {
		t.Errorf("calls of a pod that PreEnqueue holds: %v", calls)
	}
	later := &corev1.ConfigMap{}
	later.Name = "later"
	if _, err := c.clients.CoreV1().ConfigMaps("default").Create(t.Context(), later, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.bound("needs")
	c.mark("node-2", "annotations", "example.com/colour", "blue")
	if on := c.bound("blue"); on != "node-2" {
		t.Errorf("blue on %s", on)
	}
}

// mostCPU returns more than half of a node's CPUs.
func (c *cluster) mostCPU(name string) string {
	c.Helper()
	return fmt.Sprint(c.cpus(name)/2 + 1)
}

func (c *cluster) cpus(name string) int64 {
	c.Helper()
	var node *corev1.Node
	c.env.Eventually(c.T, "node "+name, func(ctx context.Context) (err error) {
		node, err = c.clients.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return node.Status.Allocatable.Cpu().Value()
}

func deleteNow(h fwk.Handle, p *corev1.Pod) {
	_ = h.ClientSet().CoreV1().Pods(p.Namespace).Delete(context.Background(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
}

var klogger = klog.Background()

func bindWith(ctx context.Context, h fwk.Handle, b *corev1.Binding) error {
	return h.ClientSet().CoreV1().Pods(b.Namespace).Bind(ctx, b, metav1.CreateOptions{})
}
