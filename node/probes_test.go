package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"fairlead.dev/node"
)

func httpProbe() *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}}
}

func execProbe() *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"check"}}}}
}

// counted checks the results of a pod's probes in the node's metrics: "Readiness successful 4" and the like.
func (b *bubble) counted(pod string, want ...string) {
	b.Helper()
	text, p := string(b.scrape("/metrics/probes")), b.pod(pod)
	for _, line := range want {
		var kind, result string
		var n int
		if _, err := fmt.Sscan(line, &kind, &result, &n); err != nil {
			b.Fatal(err)
		}
		sample := fmt.Sprintf("prober_probe_total{container=\"c\",namespace=\"default\",pod=%q,pod_uid=%q,probe_type=%q,result=%q} %d\n", pod, p.UID, kind, result, n)
		if !strings.Contains(text, sample) {
			b.Errorf("%s is missing in\n%s", sample, text)
		}
		if observed := fmt.Sprintf("prober_probe_duration_seconds_count{container=\"c\",namespace=\"default\",pod=%q,probe_type=%q} %d\n", pod, kind, n); result == "successful" && !strings.Contains(text, observed) {
			b.Errorf("%s is missing in\n%s", observed, text)
		}
	}
}

// toldTimes checks how often an event was told.
func (b *bubble) toldTimes(about, reason, message string, want int32) {
	b.Helper()
	list, err := b.events.List(b.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + about + ",reason=" + reason})
	if err != nil {
		b.Fatal(err)
	}
	got := int32(0)
	for _, e := range list.Items {
		if e.Message == message {
			got += e.Count
		}
	}
	if got != want {
		b.Errorf("event %s of %s: %q was told %d times, want %d", reason, about, message, got, want)
	}
}

// TestProbes: each attempt of a probe that fails is told and counted, over the restart of the container that the liveness probe
// causes.
func TestProbes(t *testing.T) {
	inBubble(t, nil, func(b *bubble) {
		b.create("web", "", func(p *corev1.Pod) {
			p.Annotations = map[string]string{
				node.StartupProbeAnnotation: "pass-after=15s", node.ReadinessProbeAnnotation: "fail-after=60s", node.LivenessProbeAnnotation: "fail-after=95s",
			}
			c := &p.Spec.Containers[0]
			c.Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}}
			c.StartupProbe, c.LivenessProbe = httpProbe(), execProbe()
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("web")}}}
		})
		time.Sleep(time.Second)
		began := b.pod("web").Status.ContainerStatuses[0].State.Running.StartedAt
		after := func(d time.Duration) { time.Sleep(time.Until(began.Add(d))) }
		refused := fmt.Sprintf("Readiness probe failed: dial tcp %s:8080: connect: connection refused", b.pod("web").Status.PodIP)

		after(85 * time.Second)
		b.counted("web", "Startup failed 2", "Startup successful 1", "Readiness successful 4", "Readiness failed 3", "Liveness successful 7")
		b.toldTimes("web", "Unhealthy", "Startup probe failed: HTTP probe failed with statuscode: 503", 2)
		b.toldTimes("web", "Unhealthy", refused, 3)

		after(125 * time.Second) // the container has been restarted after 120 s
		b.counted("web", "Startup failed 3", "Startup successful 1", "Readiness successful 4", "Readiness failed 7", "Liveness successful 8", "Liveness failed 3")
		b.toldTimes("web", "Unhealthy", "Liveness probe failed: simulated", 3)
		b.toldTimes("web", "Unhealthy", refused, 7)
		b.toldTimes("web", "Killing", "Container c failed liveness probe, will be restarted", 1)
		if c := b.pod("web").Status.ContainerStatuses[0]; c.RestartCount != 1 {
			t.Errorf("restarted %d times", c.RestartCount)
		}
	})
}

// TestProbeEvents: a warning, and the ends of containers that are not restarted, or run beside others.
func TestProbeEvents(t *testing.T) {
	inBubble(t, nil, func(b *bubble) {
		b.create("away", "", func(p *corev1.Pod) {
			p.Annotations = map[string]string{node.ReadinessProbeAnnotation: "warn", node.LivenessProbeAnnotation: "warn"}
			p.Spec.Containers[0].ReadinessProbe, p.Spec.Containers[0].LivenessProbe = httpProbe(), execProbe()
		})
		b.create("job", "", func(p *corev1.Pod) {
			p.Annotations = map[string]string{node.LivenessProbeAnnotation: "fail", node.RunForAnnotation: "forever"}
			p.Spec.RestartPolicy = corev1.RestartPolicyNever
			p.Spec.Containers[0].LivenessProbe = execProbe()
		})
		b.create("beside", "", func(p *corev1.Pod) {
			p.Annotations = map[string]string{node.LivenessProbeAnnotation: "fail"}
			sidecar := corev1.Container{Name: "proxy", Image: "proxy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
			sidecar.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9000}}}
			p.Spec.InitContainers = []corev1.Container{sidecar}
		})
		time.Sleep(25 * time.Second)
		b.toldTimes("away", "ProbeWarning", "Readiness probe warning: Probe terminated redirects, Response body: ", 3)
		b.toldTimes("away", "ProbeWarning", "Liveness probe warning: Probe terminated redirects, Response body: ", 0)
		b.counted("away", "Readiness successful 3", "Liveness successful 3")
		b.areRunning("away", "beside")
		b.told("job", "Killing", "Container c failed liveness probe")
		b.toldTimes("beside", "Unhealthy", `Liveness probe failed: service unhealthy (responded with "NOT_SERVING")`, 4) // one of them after the restart
		b.told("beside", "Killing", "Init container proxy failed liveness probe")
	})
}
