package schedulerplugins_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/schedulerplugins"
)

// TestGroups: a filter reads the groups, and the state of each.
func TestGroups(t *testing.T) {
	seen := make(chan string, 10)
	c := startWithGroups(t, "profiles: [{plugins: {multiPoint: {enabled: [{name: Plain}]}}}]",
		schedulerplugins.WithPlugin("Plain", func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			return plain(func(pod *corev1.Pod, _ fwk.NodeInfo) *fwk.Status {
				if pod.Spec.SchedulingGroup == nil {
					seen <- groupsOf(h.SnapshotSharedLister())
				}
				return nil
			}), nil
		}))
	c.composite("root")
	c.group("train", "root", 4)
	c.pod("a", "node-1", "train")
	c.pod("b", "node-1", "train")
	c.pod("c", "", "train")
	const want = "root of [podgroup/default/train], train for 4: unscheduled c, scheduled a on node-1 b on node-1, all 3; composite pod group default/gone not found"
	for i := range 50 { // the groups may come to the scheduler later than the first pods
		c.pod(fmt.Sprint("asks-", i), "", "")
		got := <-seen
		if got == want {
			return
		}
		if i == 49 {
			t.Errorf("a filter sees\n%s, want\n%s", got, want)
		}
	}
}

// groupsOf describes the groups root and train.
func groupsOf(l fwk.SharedLister) string {
	root, err := l.CompositePodGroups().Get("default", "root")
	if err != nil {
		return err.Error()
	}
	in, err := l.CompositePodGroupStates().Get("default", "root")
	if err != nil {
		return err.Error()
	}
	train, err := l.PodGroups().Get("default", "train")
	if err != nil {
		return err.Error()
	}
	pods, err := l.PodGroupStates().Get("default", "train")
	if err != nil {
		return err.Error()
	}
	unscheduled, scheduled := slices.Sorted(maps.Keys(pods.UnscheduledPods())), []string{}
	for _, p := range pods.ScheduledPods() {
		scheduled = append(scheduled, p.Name+" on "+p.Spec.NodeName)
	}
	slices.Sort(scheduled)
	_, gone := l.CompositePodGroups().Get("default", "gone")
	return fmt.Sprintf("%s of %v, %s for %d: unscheduled %s, scheduled %s, all %d; %v", root.Name, in.GetChildren(), train.Name, train.Spec.SchedulingPolicy.Gang.MinCount,
		strings.Join(unscheduled, " "), strings.Join(scheduled, " "), pods.AllPods().Len(), gone)
}
