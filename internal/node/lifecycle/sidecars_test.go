package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func sidecarRuns(command ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "proxy", Image: "envoy", Command: command, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
	}
}

// TestSidecars: sidecars that exit, or whose probes fail, restart with back-off, and the pod stays initialized.
func TestSidecars(t *testing.T) {
	always, never := corev1.RestartPolicyAlways, corev1.RestartPolicyNever
	failing := func(probe func(*corev1.Container) **corev1.Probe) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			sidecarRuns()(p)
			*probe(&p.Spec.InitContainers[0]) = &corev1.Probe{PeriodSeconds: 2, FailureThreshold: 2}
		}
	}
	rule := corev1.ContainerRestartRule{Action: corev1.ContainerRestartRuleActionRestartAllContainers,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}}}
	for _, tc := range []struct {
		name   string
		pod    *corev1.Pod
		change func(*corev1.Pod)
		until  time.Duration
		want   []string
	}{
		{"exits", testPod(always), sidecarRuns("sleep", "5"), 21 * time.Second, []string{
			"0s Running proxy=running+ web=running+ ready=True",
			"5s Running proxy=CrashLoopBackOff web=running+ ready=False",
			"5s Running proxy=running+x1 web=running+ ready=True",
			"10s Running proxy=CrashLoopBackOffx1 web=running+ ready=False",
			"20s Running proxy=running+x2 web=running+ ready=True"}},
		{"annotations are not for it", testPod(never, RunForAnnotation, "3s"), sidecarRuns(), time.Hour, []string{
			"0s Running proxy=running+ web=running+ ready=True",
			"3s Succeeded proxy=Completed(0) web=Completed(0) ready=False"}},
		{"liveness", testPod(always, LivenessProbeAnnotation, "fail"), failing(func(c *corev1.Container) **corev1.Probe { return &c.LivenessProbe }), 5 * time.Second, []string{
			"0s Running proxy=running+ web=running+ ready=True",
			"2s Running proxy=CrashLoopBackOff web=running+ ready=False",
			"2s Running proxy=running+x1 web=running+ ready=True",
			"4s Running proxy=CrashLoopBackOffx1 web=running+ ready=False"}},
		{"startup", testPod(always, StartupProbeAnnotation, "fail"), failing(func(c *corev1.Container) **corev1.Probe { return &c.StartupProbe }), 5 * time.Second, []string{
			"0s Pending proxy=running web=PodInitializing ready=False",
			"2s Pending proxy=CrashLoopBackOff web=PodInitializing ready=False",
			"2s Pending proxy=runningx1 web=PodInitializing ready=False",
			"4s Pending proxy=CrashLoopBackOffx1 web=PodInitializing ready=False"}},
		{"all containers restart", testPod(never), func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "init", Command: []string{"sleep", "1"}}}
			p.Spec.Containers[0].Command = []string{"sh", "-c", "sleep 5; exit 42"}
			p.Spec.Containers[0].RestartPolicy, p.Spec.Containers[0].RestartPolicyRules = ptr.To(corev1.ContainerRestartPolicyNever), []corev1.ContainerRestartRule{rule}
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "b", Command: []string{"sleep", "3"}}, corev1.Container{Name: "c", Command: []string{"sleep", "1h"}})
		}, 8 * time.Second, []string{
			"0s Pending init=running web=PodInitializing b=PodInitializing c=PodInitializing ready=False",
			"1s Running init=Completed(0)+ web=running+ b=running+ c=running+ ready=True",
			"4s Running init=Completed(0)+ web=running+ b=Completed(0) c=running+ ready=False",
			"6s Running init=RestartingAllContainersx1 web=RestartingAllContainersx1 b=RestartingAllContainersx1 c=RestartingAllContainersx1 ready=False",
			"6s Running init=runningx1 web=RestartingAllContainersx1 b=RestartingAllContainersx1 c=RestartingAllContainersx1 ready=False",
			"7s Running init=Completed(0)+x1 web=running+x1 b=running+x1 c=running+x1 ready=True"}},
	} {
		tc.change(tc.pod)
		for _, precise := range []bool{true, false} {
			if got := play(tc.pod.DeepCopy(), 0, tc.until, precise); !slices.Equal(got, tc.want) {
				t.Errorf("%s, precise %v:\n got %s\nwant %s", tc.name, precise, strings.Join(got, "\n     "), strings.Join(tc.want, "\n     "))
			}
		}
	}
}
