package lifecycle

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/node/addresses"
)

var (
	testHost = addresses.One(netip.MustParseAddr("172.18.0.2"))
	testIP   = addresses.One(netip.MustParseAddr("10.128.0.2"))
)

func testPod(policy corev1.RestartPolicy, annotations ...string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u", Generation: 3, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{RestartPolicy: policy, NodeName: "node-1", Containers: []corev1.Container{
			{Name: "web", Image: "nginx:1.27"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for i := 0; i < len(annotations); i += 2 {
		p.Annotations[annotations[i]] = annotations[i+1]
	}
	return p
}

// line is a pod's status in short.
func line(s *corev1.PodStatus) string {
	parts := []string{string(s.Phase)}
	if s.Reason != "" {
		parts = append(parts, s.Reason)
	}
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
		for _, c := range list {
			state := "?"
			switch {
			case c.State.Waiting != nil:
				state = c.State.Waiting.Reason
			case c.State.Running != nil:
				state = "running"
			case c.State.Terminated != nil:
				state = fmt.Sprintf("%s(%d)", c.State.Terminated.Reason, c.State.Terminated.ExitCode)
			}
			if c.Ready {
				state += "+"
			}
			if c.RestartCount > 0 {
				state += fmt.Sprintf("x%d", c.RestartCount)
			}
			parts = append(parts, c.Name+"="+state)
		}
	}
	for _, c := range s.Conditions {
		if c.Type == corev1.PodReady {
			parts = append(parts, "ready="+string(c.Status))
		}
	}
	return strings.Join(parts, " ")
}

// TestLife plays pods to their end, step by step, as the workers do. A line is the
// time since the start, and the status written then.
func TestLife(t *testing.T) {
	always, never, onFailure := corev1.RestartPolicyAlways, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure
	sidecar := corev1.Container{Name: "proxy", Image: "envoy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		change   func(*corev1.Pod)
		deleteAt time.Duration // never, if zero
		until    time.Duration
		want     []string
	}{
		{name: "service", pod: testPod(always), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True"}},
		{name: "service deleted", pod: testPod(always), until: time.Hour, deleteAt: 5 * time.Second, want: []string{
			"0s Running web=running+ ready=True",
			"5s Succeeded web=Completed(0) ready=False",
			"5s removed"}},
		{name: "slow end", pod: testPod(always, TerminateAfterAnnotation, "2s"), until: time.Hour, deleteAt: 5 * time.Second, want: []string{
			"0s Running web=running+ ready=True",
			"7s Succeeded web=Completed(0) ready=False",
			"7s removed"}},
		{name: "end slower than its grace", pod: testPod(always, TerminateAfterAnnotation, "5m"), until: time.Hour, deleteAt: 5 * time.Second, want: []string{
			"0s Running web=running+ ready=True",
			"35s Succeeded web=Completed(0) ready=False",
			"35s removed"}},
		{name: "hook that sleeps", pod: testPod(always), until: time.Hour, deleteAt: 5 * time.Second,
			change: func(p *corev1.Pod) {
				p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 4}}}
			}, want: []string{
				"0s Running web=running+ ready=True",
				"9s Succeeded web=Completed(0) ready=False",
				"9s removed"}},
		{name: "hook of a command, and a slow end", pod: testPod(always, TerminateAfterAnnotation, "2s"), until: time.Hour, deleteAt: 5 * time.Second,
			change: func(p *corev1.Pod) {
				p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "echo bye; sleep 10"}}}}
			}, want: []string{
				"0s Running web=running+ ready=True",
				"17s Succeeded web=Completed(0) ready=False",
				"17s removed"}},
		{name: "hook that does not end", pod: testPod(always, TerminateAfterAnnotation, "2s"), until: time.Hour, deleteAt: 5 * time.Second,
			change: func(p *corev1.Pod) {
				p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "infinity"}}}}
			}, want: []string{
				"0s Running web=running+ ready=True",
				"35s Succeeded web=Completed(0) ready=False",
				"35s removed"}},
		{name: "hook of a sidecar", pod: testPod(always), until: time.Hour, deleteAt: 5 * time.Second,
			change: func(p *corev1.Pod) {
				hooked := sidecar
				hooked.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}}}
				p.Spec.InitContainers = []corev1.Container{hooked}
			}, want: []string{
				"0s Running proxy=running+ web=running+ ready=True",
				"8s Succeeded proxy=Completed(0) web=Completed(0) ready=False",
				"8s removed"}},
		{name: "slow start", pod: testPod(always, StartAfterAnnotation, "3s"), until: time.Hour, want: []string{
			"0s Pending web=ContainerCreating ready=False",
			"3s Running web=running+ ready=True"}},
		{name: "deleted before it started", pod: testPod(always, StartAfterAnnotation, "3s"), until: time.Hour, deleteAt: time.Second, want: []string{
			"0s Pending web=ContainerCreating ready=False",
			"1s removed"}},
		{name: "not ready", pod: testPod(always, NotReadyAnnotation, "true"), until: time.Hour, want: []string{
			"0s Running web=running ready=False"}},
		{name: "image that is not there", pod: testPod(always), until: time.Hour,
			change: func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:does-not-exist" }, want: []string{
				"0s Pending web=ErrImagePull ready=False",
				"1s Pending web=ImagePullBackOff ready=False"}},
		{name: "one image that is not there", pod: testPod(always), until: time.Hour,
			change: func(p *corev1.Pod) {
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "log", Image: "example.com/nonexistent:1"})
			}, want: []string{
				"0s Pending web=running+ log=ErrImagePull ready=False",
				"1s Pending web=running+ log=ImagePullBackOff ready=False"}},
		{name: "job", pod: testPod(never), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True",
			"1s Succeeded web=Completed(0) ready=False"}},
		{name: "job that only waits", pod: testPod(never), until: time.Hour,
			change: func(p *corev1.Pod) { p.Spec.Containers[0].Image = "registry.k8s.io/pause:3.10.1" }, want: []string{
				"0s Running web=running+ ready=True"}},
		{name: "job that only waits, for a time", pod: testPod(never, RunForAnnotation, "5s"), until: time.Hour,
			change: func(p *corev1.Pod) { p.Spec.Containers[0].Image = "pause" }, want: []string{
				"0s Running web=running+ ready=True",
				"5s Succeeded web=Completed(0) ready=False"}},
		{name: "long job", pod: testPod(onFailure, RunForAnnotation, "5m"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True",
			"5m0s Succeeded web=Completed(0) ready=False"}},
		{name: "job that takes no time", pod: testPod(never, RunForAnnotation, "0s"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True",
			"0s Succeeded web=Completed(0) ready=False"}},
		{name: "endless job", pod: testPod(never, RunForAnnotation, "forever"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True"}},
		{name: "failing job", pod: testPod(never, ExitCodeAnnotation, "3"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True",
			"1s Failed web=Error(3) ready=False"}},
		{name: "ended job deleted", pod: testPod(never), until: time.Hour, deleteAt: 5 * time.Second, want: []string{
			"0s Running web=running+ ready=True",
			"1s Succeeded web=Completed(0) ready=False",
			"5s removed"}},
		{name: "job that is tried again", pod: testPod(onFailure, ExitCodeAnnotation, "1"), until: 30 * time.Second, want: []string{
			"0s Running web=running+ ready=True",
			"1s Running web=CrashLoopBackOff ready=False",
			"1s Running web=running+x1 ready=True",
			"2s Running web=CrashLoopBackOffx1 ready=False",
			"12s Running web=running+x2 ready=True",
			"13s Running web=CrashLoopBackOffx2 ready=False"}},
		{name: "crash loop", pod: testPod(always, RunForAnnotation, "10s", ExitCodeAnnotation, "137"), until: 40 * time.Second, want: []string{
			"0s Running web=running+ ready=True",
			"10s Running web=CrashLoopBackOff ready=False",
			"10s Running web=running+x1 ready=True",
			"20s Running web=CrashLoopBackOffx1 ready=False",
			"30s Running web=running+x2 ready=True",
			"40s Running web=CrashLoopBackOffx2 ready=False"}},
		{name: "init containers", pod: testPod(always, StartAfterAnnotation, "1s"), until: time.Hour,
			change: func(p *corev1.Pod) {
				p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "busybox"}, sidecar}
			}, want: []string{
				"0s Pending init=PodInitializing proxy=PodInitializing web=PodInitializing ready=False",
				"1s Running init=Completed(0)+ proxy=running+ web=running+ ready=True"}},
		{name: "sidecar ends with its job", pod: testPod(never), until: time.Hour,
			change: func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{sidecar} }, want: []string{
				"0s Running proxy=running+ web=running+ ready=True",
				"1s Succeeded proxy=Completed(0) web=Completed(0) ready=False"}},
		{name: "ready by its probe", pod: testPod(always, ReadinessProbeAnnotation, "pass"), until: time.Hour,
			change: probed(corev1.Probe{InitialDelaySeconds: 5, PeriodSeconds: 2}), want: []string{
				"0s Running web=running ready=False",
				"5s Running web=running+ ready=True"}},
		{name: "ready for a while", pod: testPod(always, ReadinessProbeAnnotation, "fail-after=10s"), until: time.Hour,
			change: probed(corev1.Probe{PeriodSeconds: 4, FailureThreshold: 2}), want: []string{
				"0s Running web=running+ ready=True",
				"16s Running web=running ready=False"}}, // attempts at 12 and 16 fail
		{name: "probes that nobody defines", pod: testPod(always, ReadinessProbeAnnotation, "fail", LivenessProbeAnnotation, "fail"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True"}},
		{name: "liveness", pod: testPod(always, LivenessProbeAnnotation, "fail"), until: 40 * time.Second,
			change: probed(corev1.Probe{InitialDelaySeconds: 1, PeriodSeconds: 2}), want: []string{
				"0s Running web=running ready=False",
				"1s Running web=running+ ready=True",
				"5s Running web=CrashLoopBackOff ready=False",
				"5s Running web=runningx1 ready=False",
				"6s Running web=running+x1 ready=True",
				"10s Running web=CrashLoopBackOffx1 ready=False",
				"20s Running web=runningx2 ready=False",
				"21s Running web=running+x2 ready=True",
				"25s Running web=CrashLoopBackOffx2 ready=False"}},
		{name: "delays of probes of which nothing is said", pod: testPod(always), until: time.Hour, change: func(p *corev1.Pod) {
			p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{InitialDelaySeconds: 300, PeriodSeconds: 2, SuccessThreshold: 3}
		}, want: []string{
			"0s Running web=running ready=False",
			"5m4s Running web=running+ ready=True"}},
		{name: "delays of a sidecar's probes", pod: testPod(always), until: time.Hour, change: func(p *corev1.Pod) {
			slow := sidecar
			slow.StartupProbe, slow.ReadinessProbe = &corev1.Probe{InitialDelaySeconds: 7}, &corev1.Probe{InitialDelaySeconds: 9}
			p.Spec.InitContainers = []corev1.Container{slow}
		}, want: []string{
			"0s Pending proxy=running web=PodInitializing ready=False",
			"7s Running proxy=running web=running+ ready=False",
			"9s Running proxy=running+ web=running+ ready=True"}},
		{name: "liveness of what is not restarted", pod: testPod(never, LivenessProbeAnnotation, "fail", RunForAnnotation, "forever"), until: time.Hour,
			change: probed(corev1.Probe{}), want: []string{
				"0s Running web=running+ ready=True",
				"20s Failed web=Error(137) ready=False"}},
		{name: "slow startup", pod: testPod(always, StartupProbeAnnotation, "pass-after=25s", LivenessProbeAnnotation, "pass"), until: time.Hour,
			change: probed(corev1.Probe{FailureThreshold: 5}), want: []string{
				"0s Running web=running ready=False",
				"30s Running web=running+ ready=True"}},
		{name: "startup that takes too long", pod: testPod(never, StartupProbeAnnotation, "pass-after=25s", RunForAnnotation, "forever"), until: time.Hour,
			change: probed(corev1.Probe{}), want: []string{
				"0s Running web=running ready=False",
				"20s Failed web=Error(137) ready=False"}},
		{name: "job that sleeps", pod: testPod(never), change: runs("sleep", "300"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True",
			"5m0s Succeeded web=Completed(0) ready=False"}},
		{name: "job that sleeps and fails", pod: testPod(onFailure), change: runs("sh", "-c", "sleep 7; exit 3"), until: 10 * time.Second, want: []string{
			"0s Running web=running+ ready=True",
			"7s Running web=CrashLoopBackOff ready=False",
			"7s Running web=running+x1 ready=True"}},
		{name: "service that fails", pod: testPod(always), change: runs("false"), until: 0, want: []string{
			"0s Running web=running+ ready=True",
			"0s Running web=CrashLoopBackOff ready=False",
			"0s Running web=running+x1 ready=True",
			"0s Running web=CrashLoopBackOffx1 ready=False"}},
		{name: "job that never ends", pod: testPod(never), change: runs("sleep", "infinity"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True"}},
		{name: "annotations before commands", pod: testPod(never, RunForAnnotation, "2s"), change: runs("sh", "-c", "sleep 300; exit 4"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True",
			"2s Failed web=Error(4) ready=False"}},
		{name: "what is not understood", pod: testPod(never), change: runs("sh", "-c", "sleep 300 & exit 4"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True"}},
		{name: "a pipe", pod: testPod(never), change: runs("sh", "-c", "sleep 300 | exit 4"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True",
			"5m0s Failed web=Error(4) ready=False"}},
		{name: "arguments of an image that is not known", pod: testPod(never), until: time.Hour, change: func(p *corev1.Pod) {
			p.Spec.Containers[0].Args = []string{"true"}
		}, want: []string{
			"0s Running web=running+ ready=True"}},
		{name: "what is not understood, and said", pod: testPod(never, ExitCodeAnnotation, "4"), change: runs("python", "train.py"), until: time.Hour, want: []string{
			"0s Running web=running+ ready=True",
			"1s Failed web=Error(4) ready=False"}},
		{name: "a rule restarts", pod: testPod(never), until: 4 * time.Second, change: ruled(corev1.ContainerRestartPolicyNever, corev1.ContainerRestartRuleOnExitCodesOpIn, 5, 6), want: []string{
			"0s Running web=running+ ready=True",
			"1s Running web=CrashLoopBackOff ready=False",
			"1s Running web=running+x1 ready=True",
			"2s Running web=CrashLoopBackOffx1 ready=False"}},
		{name: "no rule is for it", pod: testPod(always), until: time.Hour, change: ruled(corev1.ContainerRestartPolicyNever, corev1.ContainerRestartRuleOnExitCodesOpNotIn, 5), want: []string{
			"0s Running web=running+ ready=True",
			"1s Failed web=Error(5) ready=False"}},
		{name: "a policy of its own", pod: testPod(always), until: time.Hour, change: func(p *corev1.Pod) {
			p.Spec.Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyOnFailure)
		}, want: []string{
			"0s Running web=running+ ready=True",
			"1s Succeeded web=Completed(0) ready=False"}},
		{name: "an init container that is not restarted", pod: testPod(always), until: time.Hour, change: func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "init", Command: []string{"false"}, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyNever)}}
		}, want: []string{
			"0s Pending init=running web=PodInitializing ready=False",
			"0s Failed init=Error(1) web=PodInitializing ready=False"}},
		{name: "each its own time", pod: testPod(never), until: time.Hour, change: func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "b", Command: []string{"sleep", "9"}})
		}, want: []string{
			"0s Running web=running+ b=running+ ready=True",
			"1s Running web=Completed(0) b=running+ ready=False",
			"9s Succeeded web=Completed(0) b=Completed(0) ready=False"}},
		{name: "init container that takes time", pod: testPod(always), until: time.Hour, change: initRuns("sleep", "5"), want: []string{
			"0s Pending init=running after=PodInitializing web=PodInitializing ready=False",
			"5s Running init=Completed(0)+ after=Completed(0)+ web=running+ ready=True"}},
		{name: "init container that fails", pod: testPod(never), until: time.Hour, change: initRuns("false"), want: []string{
			"0s Pending init=running after=PodInitializing web=PodInitializing ready=False",
			"0s Failed init=Error(1) after=PodInitializing web=PodInitializing ready=False"}},
		{name: "init container that is tried again", pod: testPod(always), until: 10 * time.Second, change: initRuns("false"), want: []string{
			"0s Pending init=running after=PodInitializing web=PodInitializing ready=False",
			"0s Pending init=CrashLoopBackOff after=PodInitializing web=PodInitializing ready=False",
			"0s Pending init=runningx1 after=PodInitializing web=PodInitializing ready=False",
			"0s Pending init=CrashLoopBackOffx1 after=PodInitializing web=PodInitializing ready=False",
			"10s Pending init=runningx2 after=PodInitializing web=PodInitializing ready=False",
			"10s Pending init=CrashLoopBackOffx2 after=PodInitializing web=PodInitializing ready=False"}},
		{name: "ephemeral containers", pod: testPod(never, RunForAnnotation, "1m"), until: time.Hour, change: func(p *corev1.Pod) {
			p.Spec.EphemeralContainers = []corev1.EphemeralContainer{
				{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "busybox"}},
				{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "once", Command: []string{"sh", "-c", "sleep 8; exit 2"}}}}
		}, want: []string{
			"0s Running web=running+ debug=running once=running ready=True",
			"8s Running web=running+ debug=running once=Error(2) ready=True",
			"1m0s Succeeded web=Completed(0) debug=Completed(0) once=Error(2) ready=False"}},
		{name: "deadline", pod: testPod(always), until: time.Hour, change: func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = ptr.To(int64(20)) }, want: []string{
			"0s Running web=running+ ready=True",
			"20s Failed DeadlineExceeded web=Error(137) ready=False"}},
		{name: "forbidden sysctl", pod: testPod(always), until: time.Hour, change: func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.ipv4.tcp_syncookies"}, {Name: "kernel.msgmax"}}}
		}, want: []string{
			"0s Failed SysctlForbidden"}},
		{name: "readiness gate", pod: testPod(always), until: time.Hour,
			change: func(p *corev1.Pod) {
				p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "x.com/ok"}}
			}, want: []string{
				"0s Running web=running+ ready=False"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(tc.pod)
			}
			for _, precise := range []bool{true, false} { // does the node remember, or was it restarted?
				if got := play(tc.pod.DeepCopy(), tc.deleteAt, tc.until, precise); !slices.Equal(got, tc.want) {
					t.Errorf("precise %v:\n got %s\nwant %s", precise, strings.Join(got, "\n     "), strings.Join(tc.want, "\n     "))
				}
			}
		})
	}
}

// runs gives the container a command.
func runs(command ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers[0].Command = command }
}

// ruled has the container exit with code 5 after a second, under a rule and a restart policy of its own.
func ruled(policy corev1.ContainerRestartPolicy, op corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		c := &pod.Spec.Containers[0]
		c.Command, c.RestartPolicy = []string{"sh", "-c", "sleep 1; exit 5"}, &policy
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action: corev1.ContainerRestartRuleActionRestart, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: op, Values: codes},
		}}
	}
}

// TestAssumptions: a condition names the containers about which the node makes assumptions.
func TestAssumptions(t *testing.T) {
	never := corev1.RestartPolicyNever
	for name, c := range map[string]struct {
		pod    *corev1.Pod
		change func(*corev1.Pod)
		reason string
		says   string
	}{
		"a command":               {testPod(never), runs("python", "train.py"), "CommandNotUnderstood", "containers [web] run until the pod is deleted"},
		"an image":                {testPod(never), nil, "ImageNotRun", "containers [web] end with exit code 0 after 1s"},
		"an init container":       {testPod(corev1.RestartPolicyAlways), initRuns("python", "prepare.py"), "ImageNotRun", "init containers [init after] are passed over"},
		"a command that is known": {testPod(never), runs("sleep", "5"), "", ""},
		"a server":                {testPod(corev1.RestartPolicyAlways), runs("nginx", "-g", "daemon off;"), "", ""},
		"what is said":            {testPod(never, RunForAnnotation, "5s"), runs("python", "train.py"), "", ""},
		"how it ends":             {testPod(never, ExitCodeAnnotation, "3"), runs("python", "train.py"), "", ""},
		"what only waits":         {testPod(never), func(p *corev1.Pod) { p.Spec.Containers[0].Image = "pause" }, "", ""},
	} {
		if c.change != nil {
			c.change(c.pod)
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		status := advance(c.pod, newScenario(c.pod, nil, 0, time.Second), testHost, testIP, now, time.Time{}).status
		got := condition.OfPod(status, CommandsUnderstood)
		switch {
		case got == nil && c.reason == "":
		case got == nil || got.Status != corev1.ConditionFalse || got.Reason != c.reason || !strings.Contains(got.Message, c.says):
			t.Errorf("%s: %v, want %s: %s", name, got, c.reason, c.says)
		}
		if c.reason == "" || c.change == nil {
			continue
		}
		c.pod.Status = *status
		c.pod.Spec.InitContainers = nil
		metav1.SetMetaDataAnnotation(&c.pod.ObjectMeta, RunForAnnotation, "1h")
		status = advance(c.pod, newScenario(c.pod, nil, 0, time.Second), testHost, testIP, now, time.Time{}).status
		if got := condition.OfPod(status, CommandsUnderstood); got != nil {
			t.Errorf("%s: %v is still told when annotations say it", name, got)
		}
	}
}

// initRuns puts an init container with a command before the others, and one without behind it.
func initRuns(command ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "init", Command: command}, {Name: "after"}}
	}
}

// probed gives all containers all three probes.
func probed(p corev1.Probe) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for i := range pod.Spec.Containers {
			c := &pod.Spec.Containers[i]
			c.StartupProbe, c.ReadinessProbe, c.LivenessProbe = &p, &p, &p
		}
	}
}

func play(pod *corev1.Pod, deleteAt, until time.Duration, precise bool) (lines []string) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var ends time.Time
	for now := began; ; {
		st := advance(pod, newScenario(pod, nil, 0, time.Second), testHost, testIP, now, ends)
		if line(st.status) != line(&pod.Status) {
			lines = append(lines, fmt.Sprintf("%v %s", now.Sub(began), line(st.status)))
			if precise {
				ends = st.ends
			}
		}
		pod.Status = *st.status
		if st.remove {
			return append(lines, fmt.Sprintf("%v removed", now.Sub(began)))
		}
		deletion := began.Add(deleteAt)
		switch deleted := pod.DeletionTimestamp != nil; {
		case deleteAt > 0 && !deleted && (st.next.IsZero() || st.next.After(deletion)):
			now = deletion
			pod.DeletionTimestamp = &metav1.Time{Time: now.Add(30 * time.Second)}
			pod.DeletionGracePeriodSeconds = ptr.To(int64(30))
		case st.next.IsZero() || st.next.Sub(began) > until:
			return lines
		default:
			now = st.next
		}
	}
}

func TestRunningStatus(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := testPod(corev1.RestartPolicyAlways)
	pod.Status.Conditions = []corev1.PodCondition{{Type: "x.com/ok", Status: corev1.ConditionTrue}}
	s := advance(pod, newScenario(pod, nil, 0, time.Second), testHost, testIP, now, time.Time{}).status

	if s.PodIP != "10.128.0.2" || len(s.PodIPs) != 1 || s.HostIP != "172.18.0.2" || len(s.HostIPs) != 1 {
		t.Errorf("addresses: %s %v on %s %v", s.PodIP, s.PodIPs, s.HostIP, s.HostIPs)
	}
	if !s.StartTime.Time.Equal(now) || s.ObservedGeneration != 3 || s.QOSClass != corev1.PodQOSBestEffort {
		t.Errorf("startTime %v, observedGeneration %d, qosClass %s", s.StartTime, s.ObservedGeneration, s.QOSClass)
	}
	var types []string
	for _, c := range s.Conditions {
		types = append(types, string(c.Type)+"="+string(c.Status))
	}
	if got, want := strings.Join(types, " "), "x.com/ok=True PodReadyToStartContainers=True Initialized=True Ready=True ContainersReady=True PodScheduled=True"; got != want {
		t.Errorf("conditions %s, want %s", got, want)
	}
	c := s.ContainerStatuses[0]
	if !strings.HasPrefix(c.ImageID, "nginx@sha256:") || !strings.HasPrefix(c.ContainerID, "fairlead://") || !*c.Started {
		t.Errorf("container status: %+v", c)
	}

	pod.Status = *s
	again := advance(pod, newScenario(pod, nil, 0, time.Second), testHost, testIP, now.Add(time.Minute), time.Time{})
	if !apiequality.Semantic.DeepEqual(again.status, s) || !again.next.IsZero() {
		t.Error("a pod that runs on is not left alone")
	}
	pod.Spec.HostNetwork = true
	if s := advance(pod, newScenario(pod, nil, 0, time.Second), testHost, addresses.Both{}, now, time.Time{}).status; s.PodIP != s.HostIP {
		t.Errorf("a pod of the host's network has address %s", s.PodIP)
	}
}
