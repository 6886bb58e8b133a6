package kubelet_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// TestKubeletEndpoints reads a kubelet's endpoints for monitoring, through the server.
func TestKubeletEndpoints(t *testing.T) {
	env := testenv.New(t, testenv.Options{Nodes: 2, NoScheduler: true, Controllers: []string{"serviceaccount"}, Stages: testenv.Objects{Values: []any{[]byte(metric)}}})
	w := world{env, client.For[*corev1.Pod](env.Client(t)).Namespace("default"), env.Config().Host + "/api/v1/namespaces/default/pods/"}
	await(t, client.For[*corev1.ServiceAccount](env.Client(t)).Namespace("default"), "default", func(*corev1.ServiceAccount) bool { return true })
	for _, name := range []string{"web", "elsewhere", "done"} {
		w.run(t, name, func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Mi")}
			switch name {
			case "elsewhere":
				p.Spec.NodeName = "node-2"
			case "done":
				p.Spec.RestartPolicy = corev1.RestartPolicyNever
				p.Spec.Containers[0].Command = []string{"true"}
			}
		})
	}
	pod := await(t, w.pods, "web", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	await(t, w.pods, "done", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	node, err := client.For[*corev1.Node](env.Client(t)).Get(t.Context(), "node-1")
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		t.Helper()
		code, body := w.get(t, "/api/v1/nodes/node-1/proxy"+path)
		if code != 200 {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		return body
	}
	c, id := pod.Status.ContainerStatuses[0], "/kubepods/pod"+string(pod.UID)
	labels := `{container="c",id="` + id + `/` + c.ContainerID + `",image="` + c.Image + `",name="` + c.ContainerID + `",namespace="default",pod="web"}`
	for path, lines := range map[string][]string{
		"/metrics": {
			`kubelet_node_name{node="node-1"} 1`, "kubelet_running_pods 1", `kubelet_active_pods{static="false"} 1`, `kubelet_desired_pods{static="false"} 2`,
			`kubelet_running_containers{container_state="running"} 1`, `kubelet_running_containers{container_state="exited"} 1`,
			`kubelet_started_containers_total{container_type="container"} 2`, `kubernetes_build_info{git_version="` + node.Status.NodeInfo.KubeletVersion + `"`,
		},
		"/metrics/cadvisor": {
			"container_memory_working_set_bytes" + labels + " 3.145728e+06", "container_spec_memory_limit_bytes" + labels + " 4.194304e+06", "container_spec_cpu_quota" + labels + " 200000",
			`container_cpu_usage_seconds_total{container="c",cpu="total",id="`, `container_memory_working_set_bytes{container="",id="` + id + `",image="",name="",namespace="default",pod="web"} 3.145728e+06`,
			`container_memory_working_set_bytes{container="",id="/",image="",name="",namespace="",pod=""} 3.145728e+06`, `machine_cpu_cores{boot_id="` + node.Status.NodeInfo.BootID + `"`,
		},
		"/metrics/nodes/node-2/metrics": {`kubelet_node_name{node="node-2"} 1`},
	} {
		body := read(path)
		for _, line := range lines {
			if !strings.Contains(body, "\n"+line) {
				t.Errorf("%s has no line that begins with %s:\n%s", path, line, body)
			}
		}
	}
	var stats struct {
		Node struct {
			NodeName string
			Memory   struct{ WorkingSetBytes, AvailableBytes int64 }
		}
		Pods []struct {
			PodRef     struct{ Name, Namespace, UID string }
			Containers []struct {
				Name   string
				CPU    struct{ UsageNanoCores int64 }
				Memory struct{ WorkingSetBytes, AvailableBytes int64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(read("/stats/summary")), &stats); err != nil {
		t.Fatal(err)
	}
	if n := stats.Node; n.NodeName != "node-1" || n.Memory.WorkingSetBytes != 3<<20 || n.Memory.AvailableBytes != node.Status.Capacity.Memory().Value()-3<<20 {
		t.Errorf("the node: %+v", n)
	}
	if len(stats.Pods) != 1 || stats.Pods[0].PodRef.UID != string(pod.UID) || len(stats.Pods[0].Containers) != 1 {
		t.Fatalf("the pods: %+v", stats.Pods)
	}
	if c := stats.Pods[0].Containers[0]; c.Name != "c" || c.CPU.UsageNanoCores != 1e9 || c.Memory.WorkingSetBytes != 3<<20 || c.Memory.AvailableBytes != 1<<20 {
		t.Errorf("the container, which uses half of its CPU: %+v", c)
	}
	var config struct {
		Kubeletconfig struct {
			Kind                     string
			MaxPods                  int64
			NodeLeaseDurationSeconds int
		}
	}
	if err := json.Unmarshal([]byte(read("/configz")), &config); err != nil {
		t.Fatal(err)
	}
	if k := config.Kubeletconfig; k.Kind != "KubeletConfiguration" || k.MaxPods != 110 || k.NodeLeaseDurationSeconds != 40 {
		t.Errorf("the configuration: %+v", k)
	}
	if code, _ := w.get(t, "/api/v1/nodes/node-1/proxy/metrics/nothing"); code != 404 {
		t.Errorf("what is not there: %d", code)
	}
}
