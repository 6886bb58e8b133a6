package nodelifecycle_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/controllers/nodelifecycle"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// hand acts as the kubelets.
type hand struct {
	*testing.T
	server *testenv.Env
	nodes  client.Resource[*corev1.Node]
	pods   client.Resource[*corev1.Pod]
	events client.Resource[*corev1.Event]
}

func begin(t *testing.T, o nodelifecycle.Options) hand {
	server := testenv.New(t, testenv.Options{
		Controllers: []string{"serviceaccount", "namespace", "tainteviction"}, NoScheduler: true, NoNodes: true,
	})
	c := server.Client(t)
	env := controller.Env{Client: c, Informers: informer.NewSet(c), Recorder: client.NewRecorder(c, "node-controller"), Log: slog.New(slog.DiscardHandler)}
	run := nodelifecycle.New(env, o)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		stop()
		wg.Wait()
		env.Informers.Stop()
		env.Recorder.Close()
	})
	env.Informers.Start(ctx)
	wg.Go(func() {
		if err := run.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return hand{t, server, client.For[*corev1.Node](c), client.For[*corev1.Pod](c).Namespace("default"), client.For[*corev1.Event](c)}
}

func (h hand) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// node registers a node, which must start with the not-ready taint.
func (h hand) node(name string) {
	h.Helper()
	n, err := h.nodes.Create(h.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelOSStable: "linux"}}})
	h.must(err)
	if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != corev1.TaintNodeNotReady || n.Spec.Taints[0].Effect != corev1.TaintEffectNoSchedule {
		h.Fatalf("a new node has the taints %v", n.Spec.Taints)
	}
}

// report writes the node's Ready condition.
func (h hand) report(ctx context.Context, name string, ready corev1.ConditionStatus) error {
	_, err := h.nodes.Patch(ctx, name, client.StrategicPatch(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: ready, Reason: "Test", LastHeartbeatTime: metav1.Now(),
	}}}}).On("status"))
	return err
}

// pod creates a ready pod on a node.
func (h hand) pod(name, node string, tolerations ...corev1.Toleration) {
	h.Helper()
	p, err := h.pods.Create(h.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: node, Tolerations: tolerations, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	})
	h.must(err)
	_, err = h.pods.Patch(h.Context(), p.Name, client.StrategicPatch(map[string]any{"status": map[string]any{
		"phase": corev1.PodRunning, "conditions": []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}}).On("status"))
	h.must(err)
}

func (h hand) kubeletConditions(what, about, reason, message string) {
	h.Helper()
	waittest.For(h, h.events, what, "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.InvolvedObject.Name == about && e.Reason == reason && e.Message == message {
				return true
			}
		}
		return false
	})
}

func taints(n *corev1.Node) map[string]bool {
	have := map[string]bool{}
	for _, t := range n.Spec.Taints {
		have[t.Key+":"+string(t.Effect)] = true
	}
	return have
}

func untainted(n *corev1.Node) bool { return len(n.Spec.Taints) == 0 }

// A node becomes schedulable when it is ready, stops its heartbeat, loses its pods, and comes back.
func TestANodeFallsSilent(t *testing.T) {
	h := begin(t, nodelifecycle.Options{Grace: 2 * time.Second})
	h.node("quiet")
	h.node("alive")
	ctx, stop := context.WithCancel(t.Context())
	var beating sync.WaitGroup
	defer func() { stop(); beating.Wait() }()
	beats := func(name string) { // continuously, so that a suspended test machine does no harm
		beating.Go(func() {
			for ctx.Err() == nil {
				h.report(ctx, name, corev1.ConditionTrue)
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	beats("alive")
	waittest.One(t, h.nodes, "alive", "the new node's taint gone", untainted)

	second := int64(1)
	h.pod("default", "quiet") // tolerates for five minutes, by default
	h.pod("hasty", "quiet", corev1.Toleration{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists,
		Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &second})
	h.pod("loyal", "quiet", corev1.Toleration{Operator: corev1.TolerationOpExists})
	h.must(h.report(t.Context(), "quiet", corev1.ConditionTrue)) // and no more
	n := waittest.One(t, h.nodes, "quiet", "the silent node unreachable", func(n *corev1.Node) bool {
		has := taints(n)
		return has["node.kubernetes.io/unreachable:NoExecute"] && has["node.kubernetes.io/unreachable:NoSchedule"] && len(has) == 2
	})
	if c := n.Status.Conditions[0]; c.Status != corev1.ConditionUnknown || c.Reason != "NodeStatusUnknown" || c.Message != "Kubelet stopped posting node status." {
		t.Errorf("Ready is %+v", c)
	}
	if len(n.Status.Conditions) != 4 || n.Labels["beta.kubernetes.io/os"] != "linux" {
		t.Errorf("conditions %v, labels %v", n.Status.Conditions, n.Labels)
	}
	p := waittest.One(t, h.pods, "hasty", "the pod that had a second evicted", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	if c := condition.OfPod(&p.Status, corev1.DisruptionTarget); c == nil || c.Status != corev1.ConditionTrue || c.Reason != "DeletionByTaintManager" {
		t.Errorf("evicted with %v", p.Status.Conditions)
	}
	h.kubeletConditions("the eviction told", "hasty", "TaintManagerEviction", "Marking for deletion Pod default/hasty")
	waittest.For(t, h.pods, "the pods not ready", "", func(have map[string]*corev1.Pod) bool {
		return !podcontrol.IsReady(have["default"]) && !podcontrol.IsReady(have["loyal"])
	})

	beats("quiet")
	waittest.One(t, h.nodes, "quiet", "it back", untainted)
	h.kubeletConditions("the eviction called off", "default", "TaintManagerEviction", "Cancelling deletion of Pod default/default")
	for _, name := range []string{"default", "loyal"} {
		if p, err := h.pods.Get(t.Context(), name); err != nil || p.DeletionTimestamp != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A node without a status and without a Lease becomes unreachable.
func TestANodeNeverSpeaks(t *testing.T) {
	h := begin(t, nodelifecycle.Options{StartupGrace: time.Second})
	for _, n := range []string{"ready", "mute"} {
		h.node(n)
	}
	h.must(h.report(t.Context(), "ready", corev1.ConditionTrue))
	n := waittest.One(t, h.nodes, "mute", "the mute node tainted", func(n *corev1.Node) bool { return taints(n)["node.kubernetes.io/unreachable:NoExecute"] })
	for _, c := range n.Status.Conditions {
		if c.Status != corev1.ConditionUnknown || c.Reason != "NodeStatusNeverUpdated" {
			t.Errorf("%+v", c)
		}
	}
	waittest.One(t, h.nodes, "ready", "the ready one open to pods", untainted)
}

// A node that renews its Lease stays ready while the controller's watch of Leases is behind.
func TestTheWatchOfLeasesIsBehind(t *testing.T) {
	h := begin(t, nodelifecycle.Options{Grace: time.Second})
	for _, n := range []string{"heard", "dead"} {
		h.node(n)
		h.must(h.report(t.Context(), n, corev1.ConditionTrue))
	}
	remove, err := h.server.AddFault(t.Context(), testenv.Fault{Action: "hold", Resource: "leases.coordination.k8s.io"})
	h.must(err)
	now := metav1.NowMicro()
	_, err = client.For[*coordinationv1.Lease](h.server.Client(t)).Namespace(corev1.NamespaceNodeLease).Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "heard"}, Spec: coordinationv1.LeaseSpec{RenewTime: &now},
	})
	h.must(err)
	h.must(h.report(t.Context(), "dead", corev1.ConditionTrue)) // later than the other one
	isUnknown := func(n *corev1.Node) bool { return n.Status.Conditions[0].Status == corev1.ConditionUnknown }
	waittest.One(t, h.nodes, "dead", "it unknown", isUnknown)
	if n, err := h.nodes.Get(t.Context(), "heard"); err != nil || isUnknown(n) {
		t.Errorf("the node with a new Lease is %+v, %v", n.Status.Conditions, err)
	}
	h.must(remove(t.Context()))
	waittest.One(t, h.nodes, "heard", "it unknown a while after its last Lease", isUnknown)
}

// If no node is ready, no pods are evicted: the fault is probably on our side.
func TestAllNodesAreDown(t *testing.T) {
	h := begin(t, nodelifecycle.Options{Pace: 100 * time.Millisecond})
	for _, n := range []string{"n1", "n2"} {
		h.node(n)
		h.must(h.report(t.Context(), n, corev1.ConditionTrue))
		waittest.One(t, h.nodes, n, "it ready", untainted)
	}
	h.must(h.report(t.Context(), "n1", corev1.ConditionFalse))
	waittest.One(t, h.nodes, "n1", "the one driving away", func(n *corev1.Node) bool { return taints(n)["node.kubernetes.io/not-ready:NoExecute"] })
	h.must(h.report(t.Context(), "n2", corev1.ConditionFalse))
	for _, n := range []string{"n1", "n2"} {
		waittest.One(t, h.nodes, n, "only closed to new pods", func(n *corev1.Node) bool {
			has := taints(n)
			return has["node.kubernetes.io/not-ready:NoSchedule"] && len(has) == 1
		})
	}
	h.must(h.report(t.Context(), "n2", corev1.ConditionTrue))
	waittest.One(t, h.nodes, "n1", "driving away again, when its turn comes", func(n *corev1.Node) bool { return taints(n)["node.kubernetes.io/not-ready:NoExecute"] })
}
