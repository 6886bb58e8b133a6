package scheduler_test

import (
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// TestMetrics checks the counts of attempts and the sizes of queues while pods are bound, wait, and are deleted.
func TestMetrics(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: 1})
	c := env.Client(t)
	account(t, c)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	create := func(p *corev1.Pod) {
		t.Helper()
		if _, err := pods.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	create(pod("small", "1"))
	await(t, pods, "small", "running", running)
	create(pod("large", "999"))
	gated := pod("gated", "1")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	create(gated)
	for _, name := range []string{"large", "gated"} {
		await(t, pods, name, "held back", func(p *corev1.Pod) bool { return len(p.Status.Conditions) > 0 })
	}
	show(t, env.Config(),
		`scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1`,
		`scheduler_pod_scheduling_attempts_count 1`,
		`scheduler_scheduling_algorithm_duration_seconds_count 1`,
		`scheduler_framework_extension_point_duration_seconds_count{extension_point="Bind",profile="default-scheduler",status="Success"} 1`,
		`scheduler_framework_extension_point_duration_seconds_count{extension_point="PostFilter",profile="default-scheduler",status="Unschedulable"} `,
		`scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="gated"} 1`,
		`scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 2`,
		`scheduler_pending_pods{queue="unschedulable"} 1`,
		`scheduler_pending_pods{queue="gated"} 1`,
		`scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1`,
		`scheduler_cache_size{type="nodes"} 1`,
		`scheduler_async_api_call_execution_total{call_type="pod_binding",result="success"} 1`,
		`scheduler_async_api_call_execution_total{call_type="pod_status_patch",result="success"} `,
		`scheduler_async_api_call_execution_duration_seconds_count{call_type="pod_binding",result="success"} 1`,
		`scheduler_pending_async_api_calls{call_type="pod_binding"} 0`,
		`scheduler_cache_size{type="pods"} 1`,
		`rest_client_requests_total{code="201",host="fairlead.in-process",method="POST"} `,
	)
	for _, name := range []string{"small", "large", "gated"} {
		if err := pods.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	show(t, env.Config(),
		`scheduler_pending_pods{queue="unschedulable"} 0`,
		`scheduler_pending_pods{queue="gated"} 0`,
		`scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 0`,
		`scheduler_cache_size{type="pods"} 0`,
	)
}

// show waits until /metrics has lines that begin so.
func show(t *testing.T, config *rest.Config, lines ...string) {
	t.Helper()
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	for len(lines) > 0 {
		if t.Context().Err() != nil {
			t.Fatalf("/metrics never has %s", lines[0])
		}
		res, err := h.Get(config.Host + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for len(lines) > 0 && strings.Contains(string(text), "\n"+lines[0]) {
			lines = lines[1:]
		}
	}
}
