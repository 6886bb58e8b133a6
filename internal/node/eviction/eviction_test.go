package eviction_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/eviction"
	"fairlead.dev/internal/node/kubeletconfig"
)

func config(t *testing.T, text string) *kubeletconfig.Config {
	t.Helper()
	c, err := kubeletconfig.Parse([]byte("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestObserve plays the memory that is available, in MiB, each ten seconds: whether the node has the condition, and whether it
// acts.
func TestObserve(t *testing.T) {
	for _, tc := range []struct {
		name, config string
		available    []int64
		want         string
	}{
		{"hard", "evictionHard: {memory.available: 100Mi}\nevictionPressureTransitionPeriod: 20s", []int64{100, 99, 100, 100, 100}, "-- ca c- -- --"},
		{"soft", "evictionHard: {}\nevictionSoft: {memory.available: 100Mi}\nevictionSoftGracePeriod: {memory.available: 20s}\nevictionPressureTransitionPeriod: 1s",
			[]int64{99, 99, 120, 99, 99, 99}, "c- c- -- c- c- ca"},
		{"reclaim", "evictionHard: {memory.available: 100Mi}\nevictionMinimumReclaim: {memory.available: 50Mi}\nevictionPressureTransitionPeriod: 1s",
			[]int64{120, 99, 120, 149, 150, 120}, "-- ca ca ca -- --"},
		{"share", "evictionHard: {memory.available: 10%}\nevictionPressureTransitionPeriod: 1s", []int64{100, 99}, "-- ca"},
	} {
		m, err := eviction.New(config(t, tc.config))
		if err != nil {
			t.Fatal(err)
		}
		now, got := time.Unix(0, 0), []string{}
		for _, n := range tc.available {
			p := m.Observe(eviction.Observations{eviction.Memory: {Available: n << 20, Capacity: 1000 << 20}}, now)
			step := []byte("--")
			if len(p.Conditions) == 1 && p.Conditions[0] == corev1.NodeMemoryPressure {
				step[0] = 'c'
			}
			if len(p.Act) > 0 {
				step[1] = 'a'
			}
			got, now = append(got, string(step)), now.Add(10*time.Second)
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, text, tc.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"evictionHard: {memory.free: 1Gi}":       "unsupported eviction signal memory.free",
		"evictionHard: {memory.available: '-1'}": "must be positive",
		"evictionHard: {memory.available: 101%}": "want a percentage",
		"evictionSoft: {memory.available: 1Gi}":  "grace period must be specified for the soft eviction threshold memory.available",
		"evictionMinimumReclaim: {disk: 1Gi}":    "unsupported eviction signal disk",
	} {
		if _, err := eviction.New(config(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestRank: pods above their requests come first, then the lower priority, then the larger surplus.
func TestRank(t *testing.T) {
	pod := func(name string, priority int32, request string, uses int64) *eviction.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Priority: ptr.To(priority), Containers: []corev1.Container{{Name: "c"}}}}
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse(request)}
		return &eviction.Pod{Pod: p, Containers: []eviction.Container{{Name: "c", Usage: eviction.Usage{Memory: uses, Processes: uses}}}}
	}
	all := []*eviction.Pod{pod("within", -1, "1000", 900), pod("high", 7, "0", 900), pod("more", 0, "100", 900), pod("less", 0, "800", 900)}
	for signal, want := range map[eviction.Signal]string{eviction.Memory: "more less high within", eviction.PID: "within more less high"} {
		eviction.Rank(eviction.Threshold{Signal: signal}, all)
		got := ""
		for _, p := range all {
			got += fmt.Sprint(p.Name, " ")
		}
		if got != want+" " {
			t.Errorf("%s: %s, want %s", signal, got, want)
		}
	}
}
