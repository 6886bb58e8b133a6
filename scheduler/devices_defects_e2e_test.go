package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// event waits for an event that has the reason, and a note with all texts.
func (d *deviceEnv) event(reason string, texts ...string) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), time.Minute)
	defer cancel()
	w, err := d.events.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		d.Fatal(err)
	}
	defer w.Stop()
	var seen []string
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			d.Fatalf("no event %s with %q; seen %q", reason, texts, seen)
		}
		if ev.Object.Reason != reason {
			continue
		}
		seen = append(seen, ev.Object.Message)
		all := true
		for _, text := range texts {
			all = all && strings.Contains(ev.Object.Message, text)
		}
		if all {
			return
		}
	}
}

// A pool that contradicts itself gives no devices, and an event tells which and why. Other pools and pods go on.
func TestDefectivePools(t *testing.T) {
	d := newDeviceEnv(t, 2)
	d.ready("node-1", "node-2")
	first, again := sliceOf("node-1", device("a", "small", "8Gi")), sliceOf("node-1", device("a", "small", "8Gi"))
	again.Name = "node-1-again"
	first.Spec.Pool.ResourceSliceCount, again.Spec.Pool.ResourceSliceCount = 2, 2
	create(t, d.slices, first)
	d.claim("waiting", one())
	d.pod("waiting", using("waiting"))
	d.held("waiting", none(2, "cannot allocate all claims"))
	d.event("IncompleteResourcePool", "pool gpu.example.com/node-1, generation 1: 1 of 2 slices exist")
	create(t, d.slices, again)
	d.held("waiting", "0/2 nodes are available: 1 cannot allocate all claims, 1 invalid resource pools were encountered. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	d.event("InvalidResourcePool", "pool gpu.example.com/node-1, generation 1: duplicate device name a")
	d.pod("plain")
	d.running("plain")
	uncounted := device("u", "small", "8Gi")
	uncounted.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "absent", Counters: map[string]resourcev1.Counter{"memory": {}}}}
	bad := sliceOf("node-2", uncounted)
	bad.Name, bad.Spec.Pool.Name = "uncounted", "uncounted"
	create(t, d.slices, bad)
	d.event("InvalidResourcePool", "pool gpu.example.com/uncounted", "device u: counter set absent not found")
	d.slice("node-2", device("b", "small", "8Gi"))
	d.running("waiting")
}

// A selector that fails is an error of the claim: the condition names it, and other pods do not wait. One that may cost
// too much is refused.
func TestDefectiveSelectors(t *testing.T) {
	d := newDeviceEnv(t, 1)
	d.ready("node-1")
	d.slice("node-1", device("a", "small", "8Gi"), device("b", "small", "8Gi"))
	many := `[` + strings.Repeat("1,", 99) + `1]`
	if _, err := d.claims.Create(t.Context(), &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "costly"},
		Spec: specOf(one(where(many + `.all(x, ` + many + `.all(y, ` + many + `.all(z, x + y + z > 0)))`)))}); err == nil || !strings.Contains(err.Error(), "exceeds cost limit") {
		t.Errorf("a costly selector: %v", err)
	}
	d.claim("missing", one(where(`device.attributes["gpu.example.com"].speed == 1`)))
	d.pod("missing", using("missing"))
	await(t, d.pods, "missing", "held by its selector", func(p *corev1.Pod) bool {
		return len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Reason == corev1.PodReasonSchedulerError &&
			strings.HasPrefix(p.Status.Conditions[0].Message, `running "DynamicResources" filter plugin: claim default/missing: selector #0 on device gpu.example.com/node-1/a: CEL runtime error: no such key: speed`)
	})
	d.claim("good", one())
	d.pod("good", using("good"))
	d.running("good")
	d.claim("classless", resourcev1.DeviceRequest{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "later"}})
	d.pod("classless", using("classless"))
	d.held("classless", "0/1 nodes are available: request r: device class later does not exist."+fmt.Sprintf(notHelpful, 1))
	d.class("later", "true")
	d.running("classless")
}
