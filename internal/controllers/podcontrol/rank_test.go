package podcontrol_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/controllers/podcontrol"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// pod returns a running, ready pod on a node, a day old; edits make it worse.
func pod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(-24 * time.Hour))},
		Spec:       corev1.PodSpec{NodeName: "n-" + name},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-24 * time.Hour))}},
		},
	}
	for _, e := range edits {
		e(p)
	}
	return p
}

func on(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }
func phase(ph corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = ph }
}
func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func cost(c string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: c} }
}
func readyFor(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-d)) }
}
func restarted(n int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: n}} }
}
func aged(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(now.Add(-d)) }
}

func TestSurplusOrder(t *testing.T) {
	// From the first to be deleted to the last: each is preferred by one rule only.
	want := []*corev1.Pod{
		pod("unassigned", on("")),
		pod("pending", phase(corev1.PodPending)),
		pod("unknown", phase(corev1.PodUnknown)),
		pod("unready", notReady),
		pod("cheap", cost("-5")),
		pod("crowded", on("busy")),
		pod("fresh", readyFor(time.Minute)),
		pod("restarted", restarted(3)),
		pod("young", aged(time.Minute)),
		pod("plain"),
		pod("dear", cost("7")),
	}
	related := append(slices.Clone(want), pod("neighbour", on("busy")))
	in := slices.Clone(want)
	slices.Reverse(in)
	for n := range len(want) {
		got := podcontrol.Surplus(in, related, n, now)
		for i, p := range got {
			if p != want[i] {
				t.Fatalf("of %d: place %d has %s, want %s", n, i, p.Name, want[i].Name)
			}
		}
	}
	if in[0].Name != "dear" {
		t.Error("the input was reordered")
	}
}

func TestSurplusComparesAgesByMagnitude(t *testing.T) {
	// 40 and 50 minutes are of one magnitude, so the UID decides; 2 minutes are not.
	b, a, c := pod("b", readyFor(40*time.Minute)), pod("a", readyFor(50*time.Minute)), pod("c", readyFor(2*time.Minute))
	got := podcontrol.Surplus([]*corev1.Pod{b, a, c}, nil, 2, now)
	if got[0] != c || got[1] != a {
		t.Errorf("got %s, %s; want c, a", got[0].Name, got[1].Name)
	}
}

func TestInvalidCostCountsAsNone(t *testing.T) {
	for _, s := range []string{"+100", "0100", "abc", "99999999999"} {
		dear, plain := pod("a", cost(s)), pod("b", cost("-1"))
		if got := podcontrol.Surplus([]*corev1.Pod{dear, plain}, nil, 1, now); got[0] != plain {
			t.Errorf("cost %q: %s goes first", s, got[0].Name)
		}
		cheap := pod("c", cost("1"))
		if got := podcontrol.Surplus([]*corev1.Pod{cheap, dear}, nil, 1, now); got[0] != dear {
			t.Errorf("cost %q weighs more than 1", s)
		}
	}
}

func TestAvailableIn(t *testing.T) {
	for _, c := range []struct {
		name     string
		pod      *corev1.Pod
		minReady time.Duration
		wait     time.Duration
		ok       bool
	}{
		{"not ready", pod("p", notReady), 0, 0, false},
		{"ready, nothing asked", pod("p", readyFor(0)), 0, 0, true},
		{"ready long enough", pod("p", readyFor(time.Minute)), time.Minute, 0, true},
		{"ready for a while", pod("p", readyFor(20*time.Second)), time.Minute, 40 * time.Second, true},
	} {
		if wait, ok := podcontrol.AvailableIn(c.pod, c.minReady, now); wait != c.wait || ok != c.ok {
			t.Errorf("%s: got %v %v, want %v %v", c.name, wait, ok, c.wait, c.ok)
		}
	}
}

func BenchmarkSurplus(b *testing.B) {
	pods := make([]*corev1.Pod, 2000)
	for i := range pods {
		pods[i] = pod(string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676)), on("n"), readyFor(time.Duration(i)*time.Second))
	}
	for b.Loop() {
		podcontrol.Surplus(pods, pods, 500, now)
	}
}
