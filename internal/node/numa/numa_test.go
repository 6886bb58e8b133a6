package numa_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/kubeletconfig"
	"fairlead.dev/internal/node/numa"
)

func manager(t *testing.T, machine, config string) (*numa.Manager, error) {
	t.Helper()
	m, err := numa.Parse([]byte("apiVersion: config.fairlead.dev/v1alpha1\nkind: Machine\n" + machine))
	if err != nil {
		return nil, err
	}
	c, err := kubeletconfig.Parse([]byte("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" + config))
	if err != nil {
		t.Fatal(err)
	}
	return numa.New(m, nil, c)
}

const four = "numaNodes: [{cpus: 4, memory: 8Gi}, {cpus: 4, memory: 8Gi}, {cpus: 4, memory: 8Gi}, {cpus: 4, memory: 8Gi}]"

func TestRefusesToStart(t *testing.T) {
	for _, tc := range []struct{ machine, config, want string }{
		{"numaNodes: []", "", "numaNodes: want 1 to 8"},
		{"threadsPerCore: 2\nnumaNodes: [{cpus: 3, memory: 1Gi}]", "", "want cpus, a multiple of threadsPerCore"},
		{"numaNodes: [{cpus: 3}]", "", "and memory"},
		{"sockets: 2", "", `unknown field "sockets"`},
		{four, "cpuManagerPolicy: static", "the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero"},
		{four, "memoryManagerPolicy: Static", "you should specify the system reserved memory"},
		{four, "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 4, limits: {memory: 1Gi}}]", "references a NUMA node 4 that does not exist"},
	} {
		if _, err := manager(t, tc.machine, tc.config); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s, %s: %v, want %s", tc.machine, tc.config, err, tc.want)
		}
	}
}

// TestInit: init containers use what the containers that follow have; sidecars keep theirs.
func TestInit(t *testing.T) {
	m, err := manager(t, four, "kubeReserved: {cpu: 500m}\ncpuManagerPolicy: static\ntopologyManagerPolicy: restricted")
	if err != nil {
		t.Fatal(err)
	}
	pod := func(name string, init, side, main string) *corev1.Pod {
		c := func(cpu string) corev1.Container {
			list := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Gi")}
			return corev1.Container{Name: "c" + cpu, Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}
		}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(name)}, Spec: corev1.PodSpec{Containers: []corev1.Container{c(main)}}}
		p.Spec.InitContainers = []corev1.Container{c(init), c(side)}
		p.Spec.InitContainers[1].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		return p
	}
	admit := func(p *corev1.Pod, want string) {
		t.Helper()
		if reason, message := m.Admit(p); reason != want {
			t.Errorf("%s: %s: %s, want %q", p.UID, reason, message, want)
		}
	}
	admit(pod("a", "4", "3", "4"), "")                         // 15 CPUs are not reserved, 7 stay allocated
	admit(pod("b", "4", "1", "4"), "")                         // of 8, 5
	admit(pod("c", "1500m", "1", "1"), "")                     // those that are not whole have none of their own
	admit(pod("d", "4", "100m", "1"), "TopologyAffinityError") // one is left
	m.Release("a")
	admit(pod("d", "4", "100m", "1"), "")
}
