package horizontalpodautoscaler

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// podOf returns a pod that requests one CPU, in a state: ready, unready (and started long ago), starting, pending,
// failed.
func podOf(name, state string, now time.Time) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
	}}}
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: now.Add(-time.Hour)}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}
	switch state {
	case "unready":
		ready.Status, ready.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(now.Add(-time.Minute))
	case "starting":
		p.Status.StartTime, ready.Status = &metav1.Time{Time: now.Add(-time.Second)}, corev1.ConditionFalse
	case "pending":
		p.Status.Phase = corev1.PodPending
	case "failed":
		p.Status.Phase = corev1.PodFailed
	}
	p.Status.Conditions = []corev1.PodCondition{ready}
	return p
}

// TestByPods gives the usage of each pod in milli-CPUs; "-" stands for an unknown one.
func TestByPods(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		about, states, used string
		target              int64
		want                int32
		utilization         int32
		fails               string
	}{
		{"grows", "ready ready ready", "300 500 700", 30, 5, 50, ""},
		{"shrinks", "ready ready ready ready ready", "100 300 500 250 250", 50, 3, 28, ""},
		{"within tolerance", "ready ready ready", "1010 1030 1020", 100, 3, 102, ""},
		{"at the edge of tolerance", "ready ready", "550 550", 50, 2, 55, ""},
		{"pending pods damp growth", "ready ready pending", "700 700 -", 30, 5, 70, ""},
		{"starting pods do not count", "ready ready starting", "300 300 1000", 30, 3, 30, ""},
		{"unready ones that were ready do", "ready unready", "300 900", 30, 4, 60, ""},
		{"failed ones do not", "ready ready failed", "500 500 -", 25, 4, 50, ""},
		{"unknown ones count nothing when it grows", "ready ready ready", "900 900 -", 50, 4, 90, ""},
		{"unknown ones hold back growth", "ready ready", "600 -", 50, 2, 60, ""},
		{"unknown ones count all when it shrinks", "ready ready ready ready", "100 100 100 -", 50, 3, 10, ""},
		{"all pending", "pending pending", "- -", 50, 0, 0, "did not receive metrics for targeted pods (pods might be unready)"},
		{"none", "", "", 50, 0, 0, "no pods returned by selector while calculating replica count"},
	} {
		var pods []*corev1.Pod
		m := readings{}
		used := strings.Fields(c.used)
		for i, state := range strings.Fields(c.states) {
			pods = append(pods, podOf(fmt.Sprint(i), state, now))
			var n int64
			if _, err := fmt.Sscan(used[i], &n); err == nil {
				m[fmt.Sprint(i)] = reading{at: now, window: time.Minute, value: n}
			}
		}
		o := Options{}.complete()
		requests, err := requestsOf(pods, "", corev1.ResourceCPU)
		if err != nil {
			t.Fatal(err)
		}
		g, err := o.group(pods, m, corev1.ResourceCPU, now)
		var got measured
		if err == nil {
			got, err = byPods(g, m, requests, c.target, int32(len(pods)), tolerance{0.1, 0.1})
		}
		if err != nil || c.fails != "" {
			if err == nil || err.Error() != c.fails {
				t.Errorf("%s: %v, want %q", c.about, err, c.fails)
			}
			continue
		}
		if got.replicas != c.want || got.utilization != c.utilization {
			t.Errorf("%s: %d at %d%%, want %d at %d%%", c.about, got.replicas, got.utilization, c.want, c.utilization)
		}
	}
}

// TestBehavior replays recommendations over time; each step is "after desired=>result".
func TestBehavior(t *testing.T) {
	rules := func(window int32, choose autoscalingv2.ScalingPolicySelect, policies ...autoscalingv2.HPAScalingPolicy) *autoscalingv2.HPAScalingRules {
		return &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: &window, SelectPolicy: &choose, Policies: policies}
	}
	pods := func(n, seconds int32) autoscalingv2.HPAScalingPolicy {
		return autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: n, PeriodSeconds: seconds}
	}
	percent := func(n, seconds int32) autoscalingv2.HPAScalingPolicy {
		return autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: n, PeriodSeconds: seconds}
	}
	type step struct {
		after         time.Duration
		desired, want int32
		limited       string
	}
	for _, c := range []struct {
		about    string
		behavior *autoscalingv2.HorizontalPodAutoscalerBehavior
		begin    int32
		steps    []step
	}{
		{"default: twice as many at once, and none less for five minutes", nil, 3, []step{
			{0, 50, 6, "ScaleUpLimit"}, {15 * time.Second, 50, 12, "ScaleUpLimit"}, {15 * time.Second, 500, 20, "TooManyReplicas"},
			{15 * time.Second, 1, 20, "TooManyReplicas"}, {301 * time.Second, 1, 2, "TooFewReplicas"},
		}},
		{"policies up", &autoscalingv2.HorizontalPodAutoscalerBehavior{
			ScaleUp:   rules(0, autoscalingv2.MaxChangePolicySelect, pods(2, 60), percent(10, 60)),
			ScaleDown: rules(0, autoscalingv2.DisabledPolicySelect),
		}, 4, []step{
			{0, 20, 6, "ScaleUpLimit"}, {15 * time.Second, 20, 6, "ScaleUpLimit"}, {60 * time.Second, 20, 8, "ScaleUpLimit"},
			{60 * time.Second, 3, 8, "ScaleDownLimit"},
		}},
		{"the least change down", &autoscalingv2.HorizontalPodAutoscalerBehavior{
			ScaleUp:   rules(0, autoscalingv2.MaxChangePolicySelect, percent(100, 15)),
			ScaleDown: rules(0, autoscalingv2.MinChangePolicySelect, pods(3, 60), percent(50, 60)),
		}, 20, []step{
			{0, 2, 17, "ScaleDownLimit"}, {30 * time.Second, 2, 17, "ScaleDownLimit"}, {31 * time.Second, 2, 14, "ScaleDownLimit"},
		}},
		{"windows", &autoscalingv2.HorizontalPodAutoscalerBehavior{
			ScaleUp:   rules(60, autoscalingv2.MaxChangePolicySelect, percent(1000, 15)),
			ScaleDown: rules(120, autoscalingv2.MaxChangePolicySelect, percent(100, 15)),
		}, 5, []step{
			{0, 9, 5, "DesiredWithinRange"}, {61 * time.Second, 8, 8, "DesiredWithinRange"},
			{10 * time.Second, 3, 8, "DesiredWithinRange"}, {121 * time.Second, 3, 3, "DesiredWithinRange"},
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &pass{autoscalers: &autoscalers{options: Options{}.complete()}, past: &past{}, hpa: &autoscalingv2.HorizontalPodAutoscaler{}}
			p.hpa.Spec.MinReplicas, p.hpa.Spec.MaxReplicas, p.hpa.Spec.Behavior = ptr.To(int32(2)), 20, c.behavior
			size := c.begin
			p.past.begin(size, time.Now())
			for i, s := range c.steps {
				time.Sleep(s.after)
				got := p.limit(size, s.desired, 2)
				limited := ""
				for _, c := range p.hpa.Status.Conditions {
					if c.Type == autoscalingv2.ScalingLimited {
						limited = c.Reason
					}
				}
				if got != s.want || limited != s.limited {
					t.Errorf("%s, step %d: %d to %d became %d (%s), want %d (%s)", c.about, i, size, s.desired, got, limited, s.want, s.limited)
				}
				if got != size {
					p.past.scaled(c.behavior, size, got, time.Now())
				}
				size = got
			}
		})
	}
}
