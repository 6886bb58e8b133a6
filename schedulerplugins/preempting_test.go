package schedulerplugins_test

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corelisters "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/schedulerplugins"
)

// evictor preempts as kube-scheduler's Evaluator does: it finds its pod in the lister, does not preempt again while a pod is leaving
// the node that the pod's status names, and evicts the last of the node's pods by name.
type evictor struct {
	handle    fwk.Handle
	pods      corelisters.PodLister
	evicted   chan string
	waiting   chan string
	nominated chan []*corev1.Pod // as other pods find them
}

func newEvictor() *evictor {
	return &evictor{evicted: make(chan string, 10), waiting: make(chan string, 10), nominated: make(chan []*corev1.Pod, 10)}
}

func (e *evictor) factory(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	e.handle, e.pods = h, h.SharedInformerFactory().Core().V1().Pods().Lister()
	return e, nil
}

func (*evictor) Name() string { return "Evictor" }

func (e *evictor) PostFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, of fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	latest, err := e.pods.Pods(pod.Namespace).Get(pod.Name)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	lister := e.handle.MutableSnapshotSharedLister()
	if pod.Name != "preemptor" {
		var all []*corev1.Pod
		for _, p := range e.handle.NominatedPodsForNode("node-1") {
			all = append(all, p.GetPod())
		}
		e.nominated <- all
		return nil, fwk.NewStatus(fwk.Unschedulable, "not a preemptor")
	}
	if name := latest.Status.NominatedNodeName; name != "" {
		n, err := lister.NodeInfos().Get(name)
		if err != nil {
			return nil, fwk.AsStatus(err)
		}
		if slices.ContainsFunc(n.GetPods(), func(p fwk.PodInfo) bool { return p.GetPod().DeletionTimestamp != nil }) {
			e.waiting <- name
			return nil, fwk.NewStatus(fwk.Unschedulable, "a pod is leaving")
		}
	}
	nodes, err := of.NodesForStatusCode(lister.NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return nil, fwk.NewStatus(fwk.Error, fmt.Sprint("no node may help ", err))
	}
	without := nodes[0].Snapshot()
	sort.Slice(without.GetPods(), func(i, j int) bool {
		return without.GetPods()[i].GetPod().Name > without.GetPods()[j].GetPod().Name
	})
	victim := without.GetPods()[0].GetPod()
	if err := without.RemovePod(klogger, victim); err != nil {
		return nil, fwk.AsStatus(err)
	}
	if s := e.handle.RunFilterPluginsWithNominatedPods(ctx, state, pod, without); !s.IsSuccess() {
		return nil, s
	}
	if err := e.handle.ClientSet().CoreV1().Pods(victim.Namespace).Delete(ctx, victim.Name, metav1.DeleteOptions{}); err != nil {
		return nil, fwk.AsStatus(err)
	}
	e.evicted <- victim.Name
	return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{NominatedNodeName: without.Node().Name, NominatingMode: fwk.ModeOverride}}, nil
}

// next returns the next value of a channel.
func next[T any](t *testing.T, c chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing comes")
	}
	return v
}

// A PostFilter that waits for its victim, of the same priority, keeps the pod's nomination, and evicts one pod only.
func TestWaitForVictim(t *testing.T) {
	e := newEvictor()
	c := start(t, 1, `
profiles:
- plugins:
    postFilter: {enabled: [{name: Evictor}], disabled: [{name: DefaultPreemption}]}`, schedulerplugins.WithPlugin("Evictor", e.factory))
	third := fmt.Sprint(c.cpus("node-1") / 3)
	staying := func(p *corev1.Pod) { // until the test deletes it without a grace period
		p.Spec.TerminationGracePeriodSeconds = new(int64(3600))
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3600}}}
	}
	for _, name := range []string{"a", "c", "b"} {
		c.pod(name, requesting(third), staying)
		c.get(name, "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	}
	c.pod("preemptor", requesting(third))
	if victim := next(t, e.evicted); victim != "c" {
		t.Errorf("evicted %s", victim)
	}
	c.mark("node-1", "labels", "changed", "yes") // the pod is tried again
	next(t, e.waiting)
	c.pod("rival", requesting(third))
	all := next(t, e.nominated)
	if len(all) != 1 || all[0].Name != "preemptor" || all[0].UID == "" || all[0].Spec.Containers == nil {
		t.Errorf("%d nominated pods, want the preemptor itself: %.200v", len(all), all)
	}
	if err := c.clients.CoreV1().Pods("default").Delete(t.Context(), "c", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
	c.bound("preemptor")
	select {
	case another := <-e.evicted:
		t.Errorf("evicted %s too", another)
	default:
	}
	for _, name := range []string{"a", "b"} {
		if p := c.get(name, "there", func(*corev1.Pod) bool { return true }); p.DeletionTimestamp != nil {
			t.Errorf("%s was evicted", name)
		}
	}
}

// MutableSnapshotSharedLister reads; only PodGroupPostFilter plugins, which are refused, may change it.
func TestReadOnlySnapshot(t *testing.T) {
	c := start(t, 1, "profiles: [{plugins: {multiPoint: {enabled: [{name: Plain}]}}}]", schedulerplugins.WithPlugin("Plain",
		func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			return plain(func(*corev1.Pod, fwk.NodeInfo) *fwk.Status {
				return fwk.AsStatus(h.MutableSnapshotSharedLister().StartMutations())
			}), nil
		}))
	c.pod("first")
	c.held("first", "may be changed by PodGroupPostFilter plugins only, which this scheduler does not run")
}

// holder lets one pod wait, and tells another one which pods are where.
type holder struct{ plain }

func (holder) Permit(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) (*fwk.Status, time.Duration) {
	if pod.Name == "held" {
		return fwk.NewStatus(fwk.Wait), time.Minute
	}
	return nil, 0
}

// A pod that is assumed to be on a node names it.
func TestAssumedPod(t *testing.T) {
	c := start(t, 1, "profiles: [{plugins: {multiPoint: {enabled: [{name: Plain}]}}}]", schedulerplugins.WithPlugin("Plain",
		func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return holder{func(pod *corev1.Pod, n fwk.NodeInfo) *fwk.Status {
				for _, p := range n.GetPods() {
					return fwk.NewStatus(fwk.Unschedulable, p.GetPod().Name+" is on "+p.GetPod().Spec.NodeName)
				}
				return nil
			}}, nil
		}))
	c.pod("held")
	c.get("held", "nominated", func(p *corev1.Pod) bool { return p.Status.NominatedNodeName != "" })
	c.pod("asks")
	c.held("asks", "held is on node-1")
}
