package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// machineTemplate has two NUMA nodes of 8 CPUs, the first of which is short of two that are reserved.
const machineTemplate = `
kind: Node
---
apiVersion: config.fairlead.dev/v1alpha1
kind: Machine
threadsPerCore: 2
numaNodes:
- {cpus: 8, memory: 32Gi, devices: {example.com/gpu: 2}}
- {cpus: 8, memory: 32Gi, devices: {example.com/gpu: 2}}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
kubeReserved: {cpu: "2", memory: 1Gi}
cpuManagerPolicy: static
cpuManagerPolicyOptions: {full-pcpus-only: "true"}
memoryManagerPolicy: Static
reservedMemory: [{numaNode: 0, limits: {memory: 1124Mi}}]
topologyManagerPolicy: POLICY
topologyManagerScope: SCOPE
`

// sized is a container of a Guaranteed pod: cpu, memory in Gi and GPUs.
func sized(name string, cpu, memory, gpus int) corev1.Container {
	list := corev1.ResourceList{"cpu": resource.MustParse(fmt.Sprint(cpu)), "memory": resource.MustParse(fmt.Sprintf("%dGi", memory))}
	if gpus > 0 {
		list["example.com/gpu"] = resource.MustParse(fmt.Sprint(gpus))
	}
	return corev1.Container{Name: name, Image: "nginx", Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}
}

// TestTopology: a kubelet's managers of CPUs, memory and devices refuse pods in its words, by policy and scope.
func TestTopology(t *testing.T) {
	const (
		affinity   = "TopologyAffinityError: Pod was rejected: Resources cannot be allocated with Topology locality"
		threads    = "SMTAlignmentError: Pod was rejected: SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2"
		physical   = "SMTAlignmentError: Pod was rejected: SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 4, requested CPUs = 6, CPUs per core = 2"
		devices    = "UnexpectedAdmissionError: Pod was rejected: Allocate failed due to requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1, which is unexpected"
		noMemory   = "UnexpectedAdmissionError: Pod was rejected: Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected"
		extend     = "UnexpectedAdmissionError: Pod was rejected: Allocate failed due to [memorymanager] failed to find NUMA nodes to extend the current topology hint, which is unexpected"
		runs       = ""
		ends       = "ends" // the pod of the name ends
		none       = "none"
		best       = "best-effort"
		restricted = "restricted"
		single     = "single-numa-node"
	)
	type step struct {
		name string
		want string
		cs   []corev1.Container
	}
	one := func(name, want string, cpu, memory, gpus int) step {
		return step{name, want, []corev1.Container{sized("c", cpu, memory, gpus)}}
	}
	for _, tc := range []struct {
		policy, scope string
		steps         []step
	}{
		{none, "container", []step{one("a", threads, 3, 1, 0), one("b", runs, 10, 1, 3), one("c", physical, 6, 1, 0), one("d", devices, 2, 1, 2), one("f", noMemory, 2, 80, 0), one("e", runs, 4, 1, 1)}},
		{best, "container", []step{one("a", runs, 10, 40, 0), one("b", extend, 2, 30, 0), {name: "a", want: ends}, one("c", runs, 2, 30, 0)}},
		{restricted, "container", []step{
			one("a", runs, 10, 1, 0), {name: "a", want: ends}, // no machine of this kind has 10 CPUs in one NUMA node, so two are preferred
			one("b", runs, 4, 1, 0), one("c", runs, 4, 1, 0), one("d", affinity, 6, 1, 0), one("e", runs, 4, 1, 0)}},
		{single, "container", []step{
			one("a", affinity, 10, 1, 0), one("b", affinity, 2, 40, 0), one("c", affinity, 2, 1, 3),
			one("d", runs, 8, 1, 1), one("e", affinity, 2, 1, 3), one("f", runs, 2, 1, 2), one("g", affinity, 6, 20, 1),
			{"two", runs, []corev1.Container{sized("c", 2, 1, 0), sized("d", 2, 1, 0)}}}},
		{single, "pod", []step{
			{"two", affinity, []corev1.Container{sized("c", 6, 1, 0), sized("d", 6, 1, 0)}},
			{"fits", runs, []corev1.Container{sized("c", 4, 1, 1), sized("d", 4, 1, 1)}},
			one("next", affinity, 8, 1, 0), one("small", runs, 6, 1, 0)}},
	} {
		t.Run(tc.policy+" "+tc.scope, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "node.yaml")
			text := strings.NewReplacer("POLICY", tc.policy, "SCOPE", tc.scope).Replace(machineTemplate)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			template, err := node.LoadTemplate(file)
			if err != nil {
				t.Fatal(err)
			}
			env := served(t)
			start(t, env, node.Options{Count: 1, Template: template})
			n := await(t, client.For[*corev1.Node](env.Client), "node-1", "ready", ready)
			gpus := n.Status.Capacity["example.com/gpu"]
			if s := n.Status; s.Capacity.Cpu().Value() != 16 || s.Allocatable.Cpu().Value() != 14 || s.Capacity.Memory().String() != "64Gi" || gpus.Value() != 4 {
				t.Errorf("capacity %v, allocatable %v", s.Capacity, s.Allocatable)
			}
			pods := client.For[*corev1.Pod](env.Client).Namespace("default")
			for _, s := range tc.steps {
				if s.want == ends {
					if err := pods.Delete(t.Context(), s.name); err != nil {
						t.Fatal(err)
					}
					gone(t, pods, s.name)
					continue
				}
				p := boundPod(s.name, "node-1", corev1.RestartPolicyAlways)
				p.Spec.Containers = s.cs
				if _, err := pods.Create(t.Context(), p); err != nil {
					t.Fatal(err)
				}
				p = await(t, pods, s.name, "taken or not", func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodPending })
				got := ""
				if p.Status.Phase == corev1.PodFailed {
					got = fmt.Sprintf("%s: %s", p.Status.Reason, p.Status.Message)
				}
				if got != s.want {
					t.Errorf("%s: %q, want %q", s.name, got, s.want)
				}
			}
		})
	}
}
