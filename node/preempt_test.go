package node_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// requests has the container of a pod ask for CPU; limited has it be Guaranteed.
func requests(p *corev1.Pod, cpu string, limited bool) *corev1.Pod {
	r := &p.Spec.Containers[0].Resources
	r.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Mi")}
	if limited {
		r.Limits = r.Requests.DeepCopy()
	}
	return p
}

func critical(p *corev1.Pod) *corev1.Pod {
	p.Spec.PriorityClassName = "system-node-critical"
	return p
}

// TestPreempt: a node has others end for a critical pod, those that harm least and no more than it takes, in a
// kubelet's words, and the critical pod does not start before; also for a resize of a running one.
func TestPreempt(t *testing.T) {
	env := served(t)
	ctx := t.Context()
	start(t, env, node.Options{Count: 1, Capacity: corev1.ResourceList{"cpu": resource.MustParse("4"), "pods": resource.MustParse("6")}})
	nodes, pods := client.For[*corev1.Node](env.Client), client.For[*corev1.Pod](env.Client).Namespace("default")
	await(t, nodes, "node-1", "ready", ready)
	make := func(p *corev1.Pod) {
		t.Helper()
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	decided := func(name string) *corev1.Pod {
		t.Helper()
		return await(t, pods, name, "taken or not", func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodPending })
	}
	// phases are those of all pods at the moment.
	phases := func(want map[string]corev1.PodPhase) {
		t.Helper()
		list, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			if p.Status.Phase != want[p.Name] {
				t.Errorf("%s is %s (%s: %s), want %s", p.Name, p.Status.Phase, p.Status.Reason, p.Status.Message, want[p.Name])
			}
		}
	}
	bound := func(name string) *corev1.Pod { return boundPod(name, "node-1", corev1.RestartPolicyAlways) }
	const run, fail = corev1.PodRunning, corev1.PodFailed

	slow := requests(bound("small"), "500m", false)
	slow.Annotations = map[string]string{"fairlead.dev/terminate-after": "1s"} // others must not start in that time
	for _, p := range []*corev1.Pod{bound("effort"), requests(bound("sure"), "1", true), requests(bound("burst"), "1", false), slow} {
		make(p)
		decided(p.Name)
	}
	make(critical(requests(bound("first"), "2500m", false))) // 1500m are free
	decided("first")
	phases(map[string]corev1.PodPhase{"effort": run, "sure": run, "burst": fail, "small": run, "first": run})

	victim := decided("burst")
	if s := victim.Status; s.Reason != "Preempting" || s.Message != "Preempted in order to admit critical pod" {
		t.Errorf("%s: %s", s.Reason, s.Message)
	}
	i := slices.IndexFunc(victim.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
	if i < 0 {
		t.Fatalf("conditions: %+v", victim.Status.Conditions)
	}
	if c := victim.Status.Conditions[i]; c.Status != corev1.ConditionTrue || c.Reason != "TerminationByKubelet" || c.Message != "Pod was preempted by Kubelet to accommodate a critical pod." {
		t.Errorf("condition: %+v", c)
	}

	make(critical(requests(bound("second"), "500m", false))) // all is in use, and the preempted pod takes its time to end
	decided("second")
	phases(map[string]corev1.PodPhase{"effort": run, "sure": run, "burst": fail, "small": fail, "first": run, "second": run})

	if _, err := pods.Patch(ctx, "second", client.StrategicPatch(map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "c", "resources": map[string]any{"requests": map[string]any{"cpu": "1"}}}}}}).On("resize")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "second", "resized", func(p *corev1.Pod) bool {
		return p.Status.ContainerStatuses[0].Resources.Requests.Cpu().MilliValue() == 1000
	})
	phases(map[string]corev1.PodPhase{"effort": run, "sure": fail, "burst": fail, "small": fail, "first": run, "second": run})

	all := map[string]corev1.PodPhase{"effort": fail, "sure": fail, "burst": fail, "small": fail, "first": run, "second": run}
	for _, name := range []string{"third", "fourth", "fifth", "sixth"} { // the last takes the place of the one that is not critical
		make(critical(bound(name)))
		decided(name)
		all[name] = run
	}
	phases(all)
	make(critical(requests(bound("seventh"), "1", false)))
	const none = "Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: " +
		"error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: pods, q: 1), (res: cpu, q: 500), ]"
	if s := decided("seventh").Status; s.Reason != "UnexpectedAdmissionError" || s.Message != none {
		t.Errorf("%s: %s", s.Reason, s.Message)
	}

	events := client.For[*corev1.Event](env.Client).Namespace("default")
	told := func() (of []string) {
		list, err := events.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Items {
			if e.Reason == "Preempting" && e.Type == corev1.EventTypeWarning && e.Message == "Preempted in order to admit critical pod" {
				of = append(of, e.InvolvedObject.Name)
			}
		}
		slices.Sort(of)
		return slices.Compact(of)
	}
	for deadline := time.Now().Add(time.Minute); len(told()) < 4; {
		if time.Now().After(deadline) {
			t.Fatalf("events: %v", told())
		}
	}
}
