package schedulerplugins_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/schedulerplugins"
)

// quorum is a plugin that holds the pods of a group until three are there, and binds them only together, by the PodGroupManager. It
// denies the pod denied until one named opens comes.
type quorum struct {
	handle fwk.Handle
	groups fwk.PodGroupManager // taken in the factory
	bound  chan string         // what PreBind sees of each pod's hierarchy
	waits  atomic.Int32        // on Permit
	opened atomic.Bool
}

const quorumOf = 3

var (
	_ fwk.PreEnqueuePlugin  = &quorum{}
	_ fwk.FilterPlugin      = &quorum{}
	_ fwk.PermitPlugin      = &quorum{}
	_ fwk.PreBindPlugin     = &quorum{}
	_ fwk.EnqueueExtensions = &quorum{}
)

func (*quorum) Name() string { return "Quorum" }

// state returns the state of a pod's group; nil for a pod without one.
func (q *quorum) state(pod *corev1.Pod) (fwk.PodGroupState, error) {
	if pod.Spec.SchedulingGroup == nil {
		return nil, nil
	}
	return q.groups.PodGroupStates().Get(pod.Namespace, *pod.Spec.SchedulingGroup.PodGroupName)
}

func (q *quorum) PreEnqueue(_ context.Context, pod *corev1.Pod) *fwk.Status {
	if s, err := q.state(pod); err != nil {
		return fwk.AsStatus(err)
	} else if s != nil && s.AllPodsCount() < quorumOf {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "too few")
	}
	return nil
}

func (q *quorum) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}, QueueingHintFn: q.sibling},
		{Event: fwk.ClusterEvent{Resource: fwk.PodGroup, ActionType: fwk.Add}},
		{Event: fwk.ClusterEvent{Resource: fwk.CompositePodGroup, ActionType: fwk.Add}},
	}, nil
}

func (q *quorum) sibling(_ klog.Logger, pod *corev1.Pod, _, o any) (fwk.QueueingHint, error) {
	other := o.(*corev1.Pod)
	if other.Name == "opens" {
		q.opened.Store(true)
		return fwk.Queue, nil
	}
	if pod.Spec.SchedulingGroup == nil || other.Spec.SchedulingGroup == nil {
		return fwk.QueueSkip, nil
	}
	root, ok, err := q.groups.GetRootKeyForGroup(fwk.PodGroupKey(pod.Namespace, *pod.Spec.SchedulingGroup.PodGroupName))
	of, okOf, errOf := q.groups.GetRootKeyForGroup(fwk.PodGroupKey(other.Namespace, *other.Spec.SchedulingGroup.PodGroupName))
	if ok && okOf && root == of {
		return fwk.Queue, errors.Join(err, errOf)
	}
	return fwk.QueueSkip, errors.Join(err, errOf)
}

func (q *quorum) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo) *fwk.Status {
	if in := pod.Spec.SchedulingGroup != nil; state.IsPodGroupSchedulingCycle() != in || (state.GetPodGroupSchedulingCycle() != nil) != in {
		return fwk.NewStatus(fwk.Unschedulable, "it is not told of the attempt for the group")
	}
	if s, err := q.state(pod); err != nil || s != nil && s.ScheduledPodsCount() != 0 && pod.Name != "denied" {
		return fwk.NewStatus(fwk.Unschedulable, fmt.Sprint("a pod of the attempt counts as assumed ", err))
	}
	return nil
}

func (q *quorum) Permit(_ context.Context, state fwk.CycleState, pod *corev1.Pod, node string) (*fwk.Status, time.Duration) {
	s, err := q.state(pod)
	switch {
	case err != nil:
		return fwk.AsStatus(err), 0
	case s == nil:
		return nil, 0
	case state.IsPodGroupSchedulingCycle() || !s.AssumedPods().Has(pod.UID):
		return fwk.NewStatus(fwk.Unschedulable, "it is not assumed"), 0
	case pod.Name == "denied" && !q.opened.Load():
		return fwk.NewStatus(fwk.Unschedulable, "denied for now"), 0
	case s.ScheduledPodsCount() < quorumOf-1:
		q.waits.Add(1)
		return fwk.NewStatus(fwk.Wait), time.Minute
	}
	for uid := range s.AssumedPods() {
		if w := q.handle.GetWaitingPod(uid); w != nil {
			w.Allow(q.Name())
		}
	}
	return nil, 0
}

func (*quorum) PreBindPreFlight(context.Context, fwk.CycleState, *corev1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, nil
}

// PreBind runs beside the scheduling cycle.
func (q *quorum) PreBind(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) *fwk.Status {
	h, err := q.groups.BuildHierarchySnapshotFromPod(pod)
	if err != nil {
		if pod.Spec.SchedulingGroup == nil && err.Error() == "pod has no scheduling group" {
			return nil
		}
		return fwk.AsStatus(err)
	}
	group := *pod.Spec.SchedulingGroup.PodGroupName
	pods, err := h.PodGroupStates().Get(pod.Namespace, group)
	if err != nil {
		return fwk.AsStatus(err)
	}
	root, ok, err := h.GetRootKeyForGroup(fwk.PodGroupKey(pod.Namespace, group))
	if err != nil || !ok {
		return fwk.AsStatus(fmt.Errorf("root: %t, %w", ok, err))
	}
	text := fmt.Sprintf("%s: %s has %d of %d", pod.Name, root, pods.AllPodsCount(), quorumOf)
	if c, err := h.CompositePodGroupStates().Get(pod.Namespace, root.Name); err == nil {
		text += fmt.Sprint(" ", c.GetChildren())
	}
	if _, err := h.PodGroups().Get(pod.Namespace, "elsewhere"); err == nil {
		text += " and a group of another hierarchy"
	}
	q.bound <- text
	return nil
}

// TestPodGroupManager: a plugin holds and binds the pods of a group by what the PodGroupManager has, on any goroutine.
func TestPodGroupManager(t *testing.T) {
	q := &quorum{bound: make(chan string, 10)}
	c := startWithGroups(t, "profiles: [{plugins: {multiPoint: {enabled: [{name: Quorum}]}}}]", schedulerplugins.WithPlugin("Quorum",
		func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			q.handle, q.groups = h, h.PodGroupManager()
			return q, nil
		}))
	c.composite("root")
	c.group("train", "root", 1)
	c.group("elsewhere", "", 1)
	c.pod("a", "", "train")
	c.pod("b", "", "train")
	c.pod("alone", "", "")
	c.bound("alone")
	for _, name := range []string{"a", "b"} {
		if p, err := c.pods.Get(t.Context(), name); err != nil || p.Spec.NodeName != "" {
			t.Errorf("of two pods %s is on %q, %v", name, p.Spec.NodeName, err)
		}
	}
	c.pod("c", "", "train")
	c.bound("a", "b", "c")
	var got []string
	for range 3 {
		got = append(got, <-q.bound)
	}
	slices.Sort(got)
	const of = ": compositepodgroup/default/root has 3 of 3 [podgroup/default/train]"
	if want := []string{"a" + of, "b" + of, "c" + of}; !slices.Equal(got, want) {
		t.Errorf("PreBind sees %q, want %q", got, want)
	}
	if n := q.waits.Load(); n != quorumOf-2 {
		t.Errorf("%d pods waited on Permit", n)
	}

	// A pod that Permit rejects goes back to its group, and is tried again.
	c.pod("d", "", "elsewhere")
	c.pod("e", "", "elsewhere")
	c.pod("denied", "", "elsewhere")
	c.bound("d", "e")
	waittest.One(t, c.pods, "denied", "rejected by Permit", func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(of corev1.PodCondition) bool {
			return of.Type == corev1.PodScheduled && strings.Contains(of.Message, "denied for now")
		})
	})
	c.pod("opens", "", "")
	c.bound("denied")

	for _, key := range []fwk.EntityKey{fwk.PodGroupKey("default", "none"), fwk.CompositePodGroupKey("default", "none")} {
		if _, ok, err := q.groups.GetRootKeyForGroup(key); ok || err != nil {
			t.Errorf("root of %s: %t, %v", key, ok, err)
		}
	}
	if _, _, err := q.groups.GetRootKeyForGroup(fwk.PodKey("default", "a")); err == nil {
		t.Error("a pod has a root")
	}
	none := &corev1.Pod{Spec: corev1.PodSpec{SchedulingGroup: &corev1.PodSchedulingGroup{PodGroupName: ptr.To("none")}}}
	none.Namespace = "default"
	if _, err := q.groups.BuildHierarchySnapshotFromPod(none); err == nil || err.Error() != "pod group state not found for podgroup/default/none" {
		t.Errorf("hierarchy of a group that is not there: %v", err)
	}
}

// TestWithoutGroups: a plugin that registers events of pod groups runs on a server that does not have them.
func TestWithoutGroups(t *testing.T) {
	q := &quorum{}
	c := start(t, 1, "profiles: [{plugins: {multiPoint: {enabled: [{name: Quorum}]}}}]", schedulerplugins.WithPlugin("Quorum",
		func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			q.handle, q.groups = h, h.PodGroupManager()
			return q, nil
		}))
	c.pod("alone")
	c.bound("alone")
	if _, err := q.groups.PodGroups().Get("default", "train"); err == nil {
		t.Error("there is a group")
	}
}
