package node_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/node"
)

// TestRestartPeriod: the configuration limits the time between two restarts, and a container that has run long enough restarts at
// once.
func TestRestartPeriod(t *testing.T) {
	inBubble(t, map[string]string{node.KubeletConfigAnnotation: kubeletConfig + `"crashLoopBackOff": {"maxContainerRestartPeriod": "16s"}}`}, func(b *bubble) {
		fails := func(after string) func(*corev1.Pod) {
			return func(p *corev1.Pod) {
				p.Annotations = map[string]string{"fairlead.dev/run-for": after, "fairlead.dev/exit-code": "1"}
			}
		}
		b.create("short", "", fails("1s"))
		b.create("long", "", fails("33s"))
		time.Sleep(29500 * time.Millisecond) // 1 s, 1 s and 10 s, 1 s and 16 s
		c := b.pod("short").Status.ContainerStatuses[0]
		if c.RestartCount != 3 || c.State.Running == nil {
			t.Errorf("short: %+v", c)
		}
		time.Sleep(2 * time.Second)
		p := b.pod("short")
		if w := p.Status.ContainerStatuses[0].State.Waiting; w == nil || w.Message != fmt.Sprintf("back-off 16s restarting failed container=c pod=short_default(%s)", p.UID) {
			t.Errorf("short: %+v", p.Status.ContainerStatuses[0])
		}
		time.Sleep(69 * time.Second) // 100 s in all
		if c := b.pod("long").Status.ContainerStatuses[0]; c.RestartCount != 3 || c.State.Running == nil {
			t.Errorf("long: %+v", c)
		}
	})
}
