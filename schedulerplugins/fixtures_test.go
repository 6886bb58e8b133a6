package schedulerplugins_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/schedulerplugins"
)

const gangLabel = "example.com/gang"

// gang binds pods of one gang, which name its size in an annotation, together: a plugin like Coscheduling.
type gang struct {
	handle fwk.Handle
	pods   corelisters.PodLister
	args   gangArgs
}

type gangArgs struct {
	WaitSeconds int `json:"waitSeconds"`
}

var (
	_ fwk.PreFilterPlugin   = &gang{}
	_ fwk.PostFilterPlugin  = &gang{}
	_ fwk.ReservePlugin     = &gang{}
	_ fwk.PermitPlugin      = &gang{}
	_ fwk.EnqueueExtensions = &gang{}
)

func newGang(_ context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	g := &gang{handle: h, pods: h.SharedInformerFactory().Core().V1().Pods().Lister(), args: gangArgs{WaitSeconds: 60}}
	return g, schedulerplugins.DecodeInto(args, &g.args)
}

func (g *gang) Name() string { return "Gang" }

func (g *gang) of(p *corev1.Pod) (name string, size int) {
	size, _ = strconv.Atoi(p.Annotations["example.com/size"])
	return p.Labels[gangLabel], size
}

func (g *gang) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Add}, QueueingHintFn: g.sibling},
		{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete}},
	}, nil
}

func (g *gang) sibling(_ klog.Logger, pod *corev1.Pod, _, o any) (fwk.QueueingHint, error) {
	if other, ok := o.(*corev1.Pod); ok && other.Labels[gangLabel] == pod.Labels[gangLabel] {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

func (g *gang) PreFilter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	name, size := g.of(pod)
	if name == "" {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	all, err := g.pods.Pods(pod.Namespace).List(labels.SelectorFromSet(labels.Set{gangLabel: name}))
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	if len(all) < size {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("gang %s has %d of %d pods", name, len(all), size))
	}
	return nil, nil
}

func (g *gang) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

func (g *gang) reject(pod *corev1.Pod, why string) {
	name, _ := g.of(pod)
	g.handle.IterateOverWaitingPods(func(w fwk.WaitingPod) {
		if other, _ := g.of(w.GetPod()); other == name && w.GetPod().Namespace == pod.Namespace && w.GetPod().UID != pod.UID {
			w.Reject(g.Name(), why)
		}
	})
}

func (g *gang) PostFilter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	if name, _ := g.of(pod); name != "" {
		g.reject(pod, "gang "+name+" does not fit")
	}
	return nil, fwk.NewStatus(fwk.Unschedulable)
}

func (g *gang) Reserve(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status { return nil }

func (g *gang) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	if name, _ := g.of(pod); name != "" {
		g.reject(pod, "gang "+name+" lost a pod")
	}
}

func (g *gang) Permit(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) (*fwk.Status, time.Duration) {
	name, size := g.of(pod)
	if name == "" {
		return nil, 0
	}
	ready := 1
	nodes, _ := g.handle.SnapshotSharedLister().NodeInfos().List()
	for _, n := range nodes {
		for _, p := range n.GetPods() {
			if other, _ := g.of(p.GetPod()); other == name && p.GetPod().Namespace == pod.Namespace {
				ready++
			}
		}
	}
	if ready < size {
		return fwk.NewStatus(fwk.Wait), time.Duration(g.args.WaitSeconds) * time.Second
	}
	g.handle.IterateOverWaitingPods(func(w fwk.WaitingPod) {
		if other, _ := g.of(w.GetPod()); other == name {
			w.Allow(g.Name())
		}
	})
	return nil, 0
}

// rank prefers nodes by the number in a label.
type rank struct{ label string }

var (
	_ fwk.PreScorePlugin = &rank{}
	_ fwk.ScorePlugin    = &rank{}
)

func newRank(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	var of struct {
		Label string `json:"label"`
	}
	if err := schedulerplugins.DecodeInto(args, &of); err != nil {
		return nil, err
	}
	if of.Label == "" {
		return nil, fmt.Errorf("args: label: required")
	}
	return &rank{of.Label}, nil
}

func (r *rank) Name() string { return "Rank" }

func (r *rank) PreScore(_ context.Context, state fwk.CycleState, _ *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	state.Write("rank", ranked(len(nodes)))
	return nil
}

type ranked int

func (r ranked) Clone() fwk.StateData { return r }

func (r *rank) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, n fwk.NodeInfo) (int64, *fwk.Status) {
	if _, err := state.Read("rank"); err != nil {
		return 0, fwk.AsStatus(err)
	}
	v, err := strconv.ParseInt(n.Node().Labels[r.label], 10, 64)
	if err != nil && n.Node().Labels[r.label] != "" {
		return 0, fwk.AsStatus(fmt.Errorf("label %s: %w", r.label, err))
	}
	return v, nil
}

func (r *rank) ScoreExtensions() fwk.ScoreExtensions { return r }

func (r *rank) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	top := int64(1)
	for _, s := range scores {
		top = max(top, s.Score)
	}
	for i := range scores {
		scores[i].Score = scores[i].Score * fwk.MaxScore / top
	}
	return nil
}

// tracer sorts the queue by an annotation, lets a pod be tried once a ConfigMap of its name exists, pins it to a node, and
// writes down at which points it was called.
type tracer struct {
	handle fwk.Handle
	maps   corelisters.ConfigMapLister
	mu     struct {
		sync.Mutex
		calls map[string][]string // by pod
	}
}

var (
	_ fwk.QueueSortPlugin   = &tracer{}
	_ fwk.PreEnqueuePlugin  = &tracer{}
	_ fwk.PreFilterPlugin   = &tracer{}
	_ fwk.FilterPlugin      = &tracer{}
	_ fwk.ReservePlugin     = &tracer{}
	_ fwk.PreBindPlugin     = &tracer{}
	_ fwk.BindPlugin        = &tracer{}
	_ fwk.PostBindPlugin    = &tracer{}
	_ fwk.EnqueueExtensions = &tracer{}
)

func (t *tracer) factory(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	t.handle, t.maps = h, h.SharedInformerFactory().Core().V1().ConfigMaps().Lister()
	t.mu.calls = map[string][]string{}
	return t, nil
}

func (t *tracer) called(pod *corev1.Pod, point string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.calls[pod.Name] = append(t.mu.calls[pod.Name], point)
}

func (t *tracer) calls(pod string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.mu.calls[pod]...)
}

func (t *tracer) Name() string { return "Tracer" }

func (t *tracer) Less(a, b fwk.QueuedEntityInfo) bool {
	turn := func(e fwk.QueuedEntityInfo) string {
		return e.(interface{ GetPod() *corev1.Pod }).GetPod().Annotations["example.com/turn"]
	}
	return turn(a) < turn(b)
}

func (t *tracer) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		Event: fwk.ClusterEvent{Resource: "configmaps.v1.", ActionType: fwk.Add},
	}, {
		Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeAnnotation},
	}, {
		Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.Update},
	}}, nil
}

func (t *tracer) PreEnqueue(_ context.Context, p *corev1.Pod) *fwk.Status {
	if p.Annotations["example.com/needs"] == "" {
		return nil
	}
	if _, err := t.maps.ConfigMaps(p.Namespace).Get(p.Annotations["example.com/needs"]); err != nil {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "it needs a ConfigMap")
	}
	return nil
}

func (t *tracer) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	t.called(pod, fmt.Sprintf("PreFilter of %d", len(nodes)))
	state.Write("tracer", ranked(1))
	if on := pod.Annotations["example.com/on"]; on != "" {
		return &fwk.PreFilterResult{NodeNames: sets.New(on)}, nil
	}
	return nil, nil
}

func (t *tracer) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

func (t *tracer) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, n fwk.NodeInfo) *fwk.Status {
	if _, err := state.Read("tracer"); err != nil {
		return fwk.AsStatus(err)
	}
	if want := pod.Annotations["example.com/colour"]; want != n.Node().Annotations["example.com/colour"] {
		return fwk.NewStatus(fwk.Unschedulable, "node(s) had another colour")
	}
	return nil
}

func (t *tracer) Reserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	t.called(pod, "Reserve "+node+pod.Spec.NodeName)
	return nil
}

func (t *tracer) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	t.called(pod, "Unreserve")
}

func (t *tracer) PreBindPreFlight(context.Context, fwk.CycleState, *corev1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, nil
}

func (t *tracer) PreBind(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) *fwk.Status {
	t.called(pod, "PreBind")
	if pod.Annotations["example.com/fail"] != "" && len(t.calls(pod.Name)) < 5 {
		return fwk.AsStatus(fmt.Errorf("the first PreBind fails"))
	}
	return nil
}

func (t *tracer) Bind(ctx context.Context, _ fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	if pod.Annotations["example.com/bind"] == "" {
		return fwk.NewStatus(fwk.Skip)
	}
	t.called(pod, "Bind")
	b := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	b.Namespace, b.Name, b.UID = pod.Namespace, pod.Name, pod.UID
	return fwk.AsStatus(bindWith(ctx, t.handle, b))
}

func (t *tracer) PostBind(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, node string) {
	t.called(pod, "PostBind "+node)
}
